/* hazard.c: accesses that nothing orders (hazard.h). */
#include "hazard.h"

void fy_deed_read(fy_deed *w, int agent, const fy_tensor *x, uint8_t bit) { (void)w, (void)agent, (void)x, (void)bit; }
void fy_deed_write(fy_deed *w, int agent, const fy_tensor *x) { (void)w, (void)agent, (void)x; }
void fy_deed_check(fy_deed *w, fy_races *races) { (void)w, (void)races; }
void fy_deed_done(fy_deed *w, fy_site *at, uint64_t seq) { (void)w, (void)at, (void)seq; }
void fy_deed_failed(fy_deed *w) { (void)w; }
void fy_host_access(fy_site *at, const fy_tensor *x, bool write, uint64_t seq)
{
    (void)at, (void)x, (void)write, (void)seq;
}
void fy_hazard_leave(fy_storage *s, int stream, uint64_t recorded) { (void)s, (void)stream, (void)recorded; }
void fy_hazard_inherit(fy_storage *s) { (void)s; }

/* cpu_compare.c: the ops on the host whose answer is bool, element by element. */
#include "cpu.h"
#include "run_work.h"

#define QUESTION(op, ...) \
    FY_LOOP2(op##_f32, float, bool, __VA_ARGS__) \
    FY_LOOP2(op##_f64, double, bool, __VA_ARGS__) \
    FY_LOOP2(op##_i64, int64_t, bool, __VA_ARGS__) \
    FY_LOOP2(op##_i32, int32_t, bool, __VA_ARGS__) \
    FY_LOOP2(op##_u8, uint8_t, bool, __VA_ARGS__) \
    FY_LOOP2_AS(op##_bool, uint8_t, bool, bool, __VA_ARGS__) \
    void fy_host_##op(fy_run_work *w) \
    { \
        fy_map_any(w, &(fy_loops){op##_f32, op##_f64, op##_i64, op##_i32, op##_u8, op##_bool}); \
    }

QUESTION(eq, x == y)
QUESTION(ne, x != y)
QUESTION(lt, x < y)
QUESTION(le, x <= y)
QUESTION(gt, x > y)
QUESTION(ge, x >= y)
QUESTION(logical_and, (x != 0) & (y != 0))
QUESTION(logical_or, (x != 0) | (y != 0))

FY_LOOP(not_f32, float, bool, x == 0)
FY_LOOP(not_f64, double, bool, x == 0)
FY_LOOP(not_i64, int64_t, bool, x == 0)
FY_LOOP(not_i32, int32_t, bool, x == 0)
FY_LOOP(not_u8, uint8_t, bool, x == 0)

void fy_host_logical_not(fy_run_work *w)
{
    fy_map_any(w, &(fy_loops){not_f32, not_f64, not_i64, not_i32, not_u8, not_u8});
}

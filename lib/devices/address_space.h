/* address_space.h: first fit over an address range that need not exist; for VRAM and for modelled addresses. */
#ifndef FERRY_ADDRESS_SPACE_H
#define FERRY_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

struct fy_address_space *fy_address_space_make(uint64_t base, uint64_t bytes, uint64_t align);
/* Is there memory for the books of one more piece, or tenant? Then take fails for want of room alone. */
bool fy_address_space_ready(struct fy_address_space *r);
/* 0: no room. *tenant: how many had that address before; NULL: this one is none. */
uint64_t fy_address_space_take(struct fy_address_space *r, uint64_t bytes, uint32_t *tenant);
uint32_t fy_address_space_reuse(struct fy_address_space *r,
                                uint64_t addr); /* one more at an address within a piece: the same; after ready */
void fy_address_space_give(struct fy_address_space *r, uint64_t addr);
uint64_t fy_address_space_largest(const struct fy_address_space *r);
void fy_address_space_free(struct fy_address_space *r);

#endif

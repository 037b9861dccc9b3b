/* address_space.h: a first-fit allocator of address ranges, for VRAM and for modelled addresses. Not thread-safe. */
#ifndef FERRY_ADDRESS_SPACE_H
#define FERRY_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

struct fy_address_space *fy_address_space_make(uint64_t base, uint64_t bytes, uint64_t align); /* NULL: no memory */
/* Reserves host memory for one more range or tenant: after that, alloc fails only if the space is full. */
bool fy_address_space_reserve(struct fy_address_space *r);
/* 0: full. *tenant: how many had that address before; NULL: the range itself is no tenant. */
uint64_t fy_address_space_alloc(struct fy_address_space *r, uint64_t bytes, uint32_t *tenant);
/* Counts one more tenant at an address inside a range; returns how many there were before. Call reserve first. */
uint32_t fy_address_space_reuse(struct fy_address_space *r, uint64_t addr);
void fy_address_space_release(struct fy_address_space *r, uint64_t addr);
uint64_t fy_address_space_largest(const struct fy_address_space *r);
void fy_address_space_free(struct fy_address_space *r);

#endif

/* block_tree.c: the free blocks of a pool, ordered by stream, size and address, for best fit.
 *
 * A treap whose priorities are hashes of the address: balanced in any order of freeing, and deterministic, so that the
 * same calls find the same block everywhere. Intrusive: allocates nothing. */
#include "caching_allocator.h"

static uint64_t address_of(const fy_block *b) { return b->segment->addr + (uint64_t)b->offset; }

static uint64_t priority(const fy_block *b)
{
    uint64_t h = address_of(b) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static bool is_before(const fy_block *a, const fy_block *b)
{
    if (a->segment->stream != b->segment->stream) return a->segment->stream < b->segment->stream;
    if (a->bytes != b->bytes) return a->bytes < b->bytes;
    return address_of(a) < address_of(b);
}

/* Inserts b above the first subtree of lower priority, and splits that into smaller and larger keys. */
void fy_blocks_add(fy_block **root, fy_block *b)
{
    uint64_t own = priority(b);
    while (*root && priority(*root) >= own) root = is_before(*root, b) ? &(*root)->right : &(*root)->left;
    fy_block *t = *root, **below = &b->left, **above = &b->right;
    while (t) {
        bool left = is_before(t, b);
        *(left ? below : above) = t;
        if (left) below = &t->right;
        else above = &t->left;
        t = left ? t->right : t->left;
    }
    *below = *above = NULL;
    *root = b;
}

/* Replaces b by its two subtrees, merged. */
void fy_blocks_remove(fy_block **root, fy_block *b)
{
    while (*root != b) root = is_before(*root, b) ? &(*root)->right : &(*root)->left;
    fy_block *below = b->left, *above = b->right;
    while (below && above) {
        bool first = priority(below) >= priority(above);
        *root = first ? below : above;
        root = first ? &below->right : &above->left;
        if (first) below = below->right;
        else above = above->left;
    }
    *root = below ? below : above;
    b->left = b->right = NULL;
}

fy_block *fy_blocks_fit(fy_block *t, int stream, int64_t bytes)
{
    fy_block *best = NULL;
    while (t) {
        int other = t->segment->stream;
        bool fits = other > stream || (other == stream && t->bytes >= bytes);
        if (fits) best = t;
        t = fits ? t->left : t->right;
    }
    return best && best->segment->stream == stream ? best : NULL;
}

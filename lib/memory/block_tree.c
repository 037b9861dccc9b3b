/* block_tree.c: the free blocks of a pool, in the order in which they are looked for: by stream, size, address.
 *
 * A treap: a search tree that a hash of the address keeps shallow, whatever the order of freeing. No memory of its
 * own, and the same calls find the same block everywhere. */
#include "caching_allocator.h"

static uint64_t address_of(const fy_block *b) { return b->segment->addr + (uint64_t)b->offset; }

static uint64_t weight(const fy_block *b)
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

static void split(fy_block *t, const fy_block *at, fy_block **below, fy_block **above)
{
    while (t) {
        bool left = is_before(t, at);
        *(left ? below : above) = t;
        if (left) below = &t->right;
        else above = &t->left;
        t = left ? t->right : t->left;
    }
    *below = *above = NULL;
}

/* All of a lies before all of b. */
static fy_block *join(fy_block *a, fy_block *b)
{
    fy_block *root, **to = &root;
    while (a && b) {
        bool first = weight(a) >= weight(b);
        fy_block *top = first ? a : b;
        *to = top;
        to = first ? &top->right : &top->left;
        if (first) a = a->right;
        else b = b->left;
    }
    *to = a ? a : b;
    return root;
}

void fy_blocks_add(fy_block **root, fy_block *b)
{
    uint64_t heavy = weight(b);
    while (*root && weight(*root) >= heavy) root = is_before(*root, b) ? &(*root)->right : &(*root)->left;
    split(*root, b, &b->left, &b->right);
    *root = b;
}

void fy_blocks_remove(fy_block **root, fy_block *b)
{
    while (*root != b) root = is_before(*root, b) ? &(*root)->right : &(*root)->left;
    *root = join(b->left, b->right);
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

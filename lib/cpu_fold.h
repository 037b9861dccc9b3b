/* cpu_fold.h: how a reduction on the host goes through elements of one type. cpu_reduce.c includes it once a
 * type and says before:
 *
 *   T        the elements' type         READ(x)    an element as a W
 *   W        what they are computed in  IS_NAN(x)  of a W
 *   ADD MUL  + and *, of integers ones  PART       the field of fy_part that holds a W
 *            that wrap                  NAME(f)    f with the type's name
 *   LEAST MOST  the ends of W
 *
 * A fold takes a tile: `kept` results, for each of them `n` elements to go through. */

#define MAX_STEP(a, x) ((x) > (a) || IS_NAN(x) ? (x) : (a))
#define MIN_STEP(a, x) ((x) < (a) || IS_NAN(x) ? (x) : (a))
#define ANY_STEP(a, x) (W)((a) != 0 || (x) != 0)
#define ALL_STEP(a, x) (W)((a) != 0 && (x) != 0)

/* The elements that one result goes through: in LANES strands, which are joined at the end. The order hangs
 * on n alone. Then two ways through a tile, whichever walks along memory: result by result, or element by
 * element of all results. */
#define FOLD(op, start, STEP) \
    static W NAME(op##_run)(const T *p, int64_t n, int64_t step) \
    { \
        W lane[LANES], all = (start); \
        int64_t i = 0; \
        for (int l = 0; l < LANES; l++) lane[l] = (start); \
        for (; i + LANES <= n; i += LANES) \
            for (int l = 0; l < LANES; l++) lane[l] = STEP(lane[l], READ(p[(i + l) * step])); \
        for (; i < n; i++) all = STEP(all, READ(p[i * step])); \
        for (int l = 0; l < LANES && n >= LANES; l++) all = STEP(all, lane[l]); \
        return all; \
    } \
    static void NAME(op)(fy_part * part, const fy_tile *t) \
    { \
        const T *p = t->data; \
        W column[FY_TILE]; \
        if (!t->across) { \
            for (int64_t k = 0; k < t->kept; k++) { \
                W run = NAME(op##_run)(p + k * t->kept_step, t->n, t->step); \
                part[k].PART = STEP(part[k].PART, run); \
            } \
            return; \
        } \
        for (int64_t k = 0; k < t->kept; k++) column[k] = (start); \
        for (int64_t i = 0; i < t->n; i++, p += t->step) \
            for (int64_t k = 0; k < t->kept; k++) column[k] = STEP(column[k], READ(p[k * t->kept_step])); \
        for (int64_t k = 0; k < t->kept; k++) part[k].PART = STEP(part[k].PART, column[k]); \
    }

FOLD(sum, 0, ADD)
FOLD(prod, 1, MUL)
FOLD(max, LEAST, MAX_STEP)
FOLD(min, MOST, MIN_STEP)
FOLD(any, 0, ANY_STEP)
FOLD(all, 1, ALL_STEP)

/* Squares of distances from the mean, which is known from an earlier walk. */
static void NAME(squares)(fy_part *part, const fy_tile *t)
{
    const T *p = t->data;
    for (int64_t k = 0; k < t->kept; k++) {
        double sum = 0;
        for (int64_t i = 0; i < t->n; i++) {
            double x = (double)READ(p[k * t->kept_step + i * t->step]) - part[k].mean;
            sum += x * x;
        }
        part[k].real += sum;
    }
}

/* The place of the first element that no other surpasses; a NaN surpasses all numbers. */
#define FOLD_PLACE(op, SURPASSES) \
    static void NAME(op)(fy_part * part, const fy_tile *t) \
    { \
        for (int64_t k = 0; k < t->kept; k++) { \
            const T *p = (const T *)t->data + k * t->kept_step; \
            W best = (W)part[k].PART; \
            int64_t place = part[k].place; \
            for (int64_t i = 0; i < t->n; i++) { \
                W x = READ(p[i * t->step]); \
                if (place >= 0 && (IS_NAN(best) || !(SURPASSES || IS_NAN(x)))) continue; \
                best = x; \
                place = t->first + i; \
            } \
            part[k].PART = best; \
            part[k].place = place; \
        } \
    }

FOLD_PLACE(argmax, x > best)
FOLD_PLACE(argmin, x < best)

static const fy_fold NAME(folds)[] = {
    [FY_OP_sum - FY_OP_sum] = NAME(sum),       [FY_OP_prod - FY_OP_sum] = NAME(prod),
    [FY_OP_mean - FY_OP_sum] = NAME(sum),      [FY_OP_var - FY_OP_sum] = NAME(squares),
    [FY_OP_max - FY_OP_sum] = NAME(max),       [FY_OP_min - FY_OP_sum] = NAME(min),
    [FY_OP_argmax - FY_OP_sum] = NAME(argmax), [FY_OP_argmin - FY_OP_sum] = NAME(argmin),
    [FY_OP_any - FY_OP_sum] = NAME(any),       [FY_OP_all - FY_OP_sum] = NAME(all),
};

#undef T
#undef W
#undef READ
#undef IS_NAN
#undef ADD
#undef MUL
#undef PART
#undef NAME
#undef LEAST
#undef MOST
#undef MAX_STEP
#undef MIN_STEP
#undef ANY_STEP
#undef ALL_STEP
#undef FOLD
#undef FOLD_PLACE

/* reduce_template.h: the loops of reductions on the host for one element type. cpu_reduce.c includes it once per type
 * and defines before:
 *
 *   T           element type                     READ(x)    an element as a W
 *   W           type of the computation          IS_NAN(x)  is a W NaN?
 *   ADD MUL     + and *; integers wrap around    PART       the field of fy_part that holds a W
 *   LEAST MOST  smallest and largest W           NAME(f)    f with the type's suffix
 *   FLOATS      defined for floats, which have norms
 *
 * A fold takes a tile: `kept` results, and for each of them `n` elements. */

#define MAX_STEP(a, x) ((x) > (a) || IS_NAN(x) ? (x) : (a))
#define MIN_STEP(a, x) ((x) < (a) || IS_NAN(x) ? (x) : (a))
#define ANY_STEP(a, x) (W)((a) != 0 || (x) != 0)
#define ALL_STEP(a, x) (W)((a) != 0 && (x) != 0)

/* op_run: one result's elements, each mapped by TAKE, accumulated in LANES lanes that are combined at the end; the order
 * depends on n only. op_row: one element of each result. The fold goes through the tile along memory: result by result
 * (op_run), or element by element (op_row). A step of 1 is passed as a constant, so that the compiler vectorizes. */
#define FOLD(op, start, STEP, TAKE) \
    static inline ALWAYS W NAME(op##_run)(const T *p, int64_t n, int64_t step) \
    { \
        W lane[LANES], all = (start); \
        int64_t i = 0; \
        if (n >= LANES) { \
            for (int l = 0; l < LANES; l++) lane[l] = (start); \
            for (; i + LANES <= n; i += LANES) \
                for (int l = 0; l < LANES; l++) lane[l] = STEP(lane[l], TAKE(READ(p[(i + l) * step]))); \
            for (int half = LANES / 2; half > 0; half /= 2) \
                for (int l = 0; l < half; l++) lane[l] = STEP(lane[l], lane[l + half]); \
            all = lane[0]; \
        } \
        for (; i < n; i++) all = STEP(all, TAKE(READ(p[i * step]))); \
        return all; \
    } \
    static inline ALWAYS void NAME(op##_row)(W * column, const T *p, int64_t kept, int64_t step) \
    { \
        for (int64_t k = 0; k < kept; k++) column[k] = STEP(column[k], TAKE(READ(p[k * step]))); \
    } \
    FY_CLONES static void NAME(op)(fy_part * part, const fy_tile *t) \
    { \
        const T *p = t->data; \
        W column[FY_TILE]; \
        if (!t->across) { \
            for (int64_t k = 0; k < t->kept; k++, p += t->kept_step) { \
                W run = t->step == 1 ? NAME(op##_run)(p, t->n, 1) : NAME(op##_run)(p, t->n, t->step); \
                part[k].PART = STEP(part[k].PART, run); \
            } \
            return; \
        } \
        for (int64_t k = 0; k < t->kept; k++) column[k] = (start); \
        for (int64_t i = 0; i < t->n; i++, p += t->step) { \
            if (t->kept_step == 1) NAME(op##_row)(column, p, t->kept, 1); \
            else NAME(op##_row)(column, p, t->kept, t->kept_step); \
        } \
        for (int64_t k = 0; k < t->kept; k++) part[k].PART = STEP(part[k].PART, column[k]); \
    }

FOLD(sum, 0, ADD, SAME)
FOLD(prod, 1, MUL, SAME)
FOLD(max, LEAST, MAX_STEP, SAME)
FOLD(min, MOST, MIN_STEP, SAME)
FOLD(any, 0, ANY_STEP, SAME)
FOLD(all, 1, ALL_STEP, SAME)

/* Squared distances from the mean, which was computed before. */
FY_CLONES static void NAME(squares)(fy_part *part, const fy_tile *t)
{
    for (int64_t k = 0; k < t->kept; k++) {
        const T *p = (const T *)t->data + k * t->kept_step;
        double lane[DOUBLES] = {0}, mean = part[k].mean, sum = 0;
        int64_t i = 0;
        if (t->step == 1)
            for (; i + DOUBLES <= t->n; i += DOUBLES)
                for (int l = 0; l < DOUBLES; l++) {
                    double x = (double)READ(p[i + l]) - mean;
                    lane[l] += x * x;
                }
        for (; i < t->n; i++) {
            double x = (double)READ(p[i * t->step]) - mean;
            sum += x * x;
        }
        for (int l = 0; l < DOUBLES; l++) sum += lane[l];
        part[k].real += sum;
    }
}

/* The index of the first extreme element; a NaN is more extreme than all numbers. First the extreme of the tile,
 * vectorized; its index is searched for only if it replaces the earlier one. */
#define FOLD_PLACE(op, extreme, SURPASSES) \
    static void NAME(op##_at)(fy_part * part, const T *p, const fy_tile *t, W x) \
    { \
        W best = (W)part->PART; \
        if (part->place >= 0 && (IS_NAN(best) || !(SURPASSES || IS_NAN(x)))) return; \
        int64_t i = 0; \
        while (!(READ(p[i * t->step]) == x) && !(IS_NAN(x) && IS_NAN(READ(p[i * t->step])))) i++; \
        part->PART = x; \
        part->place = t->first + i; \
    } \
    FY_CLONES static void NAME(op)(fy_part * part, const fy_tile *t) \
    { \
        for (int64_t k = 0; k < t->kept; k++) { \
            const T *p = (const T *)t->data + k * t->kept_step; \
            W x = t->step == 1 ? NAME(extreme##_run)(p, t->n, 1) : NAME(extreme##_run)(p, t->n, t->step); \
            NAME(op##_at)(&part[k], p, t, x); \
        } \
    }

FOLD_PLACE(argmax, max, x > best)
FOLD_PLACE(argmin, min, x < best)

#ifdef FLOATS
#define SIZE(x) _Generic((x), float : fabsf, default : fabs)(x)
#define SQUARE(x) ((x) * (x))
#define IS_THERE(x) (W)((x) != 0)
FOLD(squared, 0, ADD, SQUARE)
FOLD(sized, 0, ADD, SIZE)
FOLD(counted, 0, ADD, IS_THERE)
FOLD(largest, 0, MAX_STEP, SIZE)
FOLD(smallest, MOST, MIN_STEP, SIZE)

static void NAME(powers)(fy_part *part, const fy_tile *t)
{
    for (int64_t k = 0; k < t->kept; k++) {
        const T *p = (const T *)t->data + k * t->kept_step;
        for (int64_t i = 0; i < t->n; i++) {
            W size = SIZE(READ(p[i * t->step]));
            part[k].real += (double)_Generic(size, float : powf, default : pow)(size, (W)t->p);
        }
    }
}

/* The fold of a p-norm. */
static fy_fold NAME(norm_fold)(double p)
{
    if (p == 2) return NAME(squared);
    if (p == 1) return NAME(sized);
    if (p == 0) return NAME(counted);
    if (isinf(p)) return p > 0 ? NAME(largest) : NAME(smallest);
    return NAME(powers);
}
#undef SIZE
#undef SQUARE
#undef IS_THERE
#endif

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
#undef FLOATS
#undef FOLD_PLACE

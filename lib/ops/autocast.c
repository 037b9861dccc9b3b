/* autocast.c: FY_AUTOCAST: which calls cast their operands, by PyTorch's lists (aten/src/ATen/autocast_mode.cpp), and
 * the casts of weights, which are kept until the thread's outermost block ends. */
#include "autocast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "graph.h"
#include "op.h"
#include "out_of_memory.h"
#include "session_hooks.h"
#include "synchronize.h"
#include "tensor.h"

/* LOWER: to the block's dtype. SINGLE: to float32. TOTAL: computed in float32 unless the call names a dtype. WIDEST: to
 * the widest dtype of the operands, float32 or the block's. Calls that promote by themselves, such as add and cat, need
 * no rule. */
typedef enum rule { NONE, LOWER, SINGLE, TOTAL, WIDEST } rule;
enum { CPU, CARDS, KINDS };

static const uint8_t rules[FY_CALL_COUNT][KINDS] = {
    [FY_OP_matmul] = {[CARDS] = LOWER, [CPU] = LOWER},
    [FY_OP_addmm] = {[CARDS] = LOWER, [CPU] = LOWER},
    [FY_CALL_linear] = {[CARDS] = LOWER, [CPU] = LOWER},
    [FY_CALL_mv] = {[CARDS] = LOWER},
    [FY_CALL_dot] = {[CARDS] = WIDEST},
    [FY_OP_exp] = {[CARDS] = SINGLE},
    [FY_OP_log] = {[CARDS] = SINGLE},
    [FY_OP_pow] = {[CARDS] = SINGLE},
    [FY_CALL_reciprocal] = {[CARDS] = SINGLE},
    [FY_OP_nll_loss] = {[CARDS] = SINGLE, [CPU] = SINGLE},
    [FY_CALL_mse_loss] = {[CARDS] = SINGLE, [CPU] = SINGLE},
    [FY_CALL_cross_entropy] = {[CPU] = SINGLE}, /* on a card its parts have rules */
    [FY_OP_prod] = {[CARDS] = TOTAL, [CPU] = SINGLE},
    [FY_OP_sum] = {[CARDS] = TOTAL},
    [FY_OP_cumsum] = {[CARDS] = TOTAL},
    [FY_OP_norm] = {[CARDS] = TOTAL},
    [FY_OP_layer_norm] = {[CARDS] = SINGLE},
    [FY_OP_softmax] = {[CARDS] = TOTAL},
    [FY_OP_log_softmax] = {[CARDS] = TOTAL},
};

/* A weight's cast. One that was made under FY_NO_GRAD belongs to no graph, and serves only there. */
typedef struct kept_cast {
    uint32_t of; /* the weight; ids are never reused */
    bool recorded;
    fy_tensor *cast;
} kept_cast;

_Thread_local bool fy_autocast_is_on;
static _Thread_local fy_dtype lower[KINDS]; /* FY_DTYPE_UNSET: off */
static _Thread_local int open_blocks;
static _Thread_local kept_cast *kept;
static _Thread_local size_t n_kept, room;

/* ---- casts --------------------------------------------------------------------------------------------------- */

static bool is_eligible(const fy_tensor *x, int kind)
{
    return x && x->magic == FY_ALIVE && (x->storage->dev->number > 0) == kind && fy_dtype_is_real(x->dtype) &&
           x->dtype != FY_FLOAT64;
}

static bool is_weight(const fy_tensor *x, fy_dtype to)
{
    return to != FY_FLOAT32 && x->dtype == FY_FLOAT32 && !x->is_view && x->node && x->node->op == FY_NODE_LEAF &&
           x->node->requires_grad;
}

static fy_tensor *find(const fy_tensor *x, fy_dtype to)
{
    for (size_t i = 0; i < n_kept; i++)
        if (kept[i].of == x->id && kept[i].cast->dtype == to && (kept[i].recorded || !fy_is_grad_enabled()))
            return kept[i].cast;
    return NULL;
}

static void keep(const fy_tensor *x, fy_tensor *cast)
{
    if (n_kept == room) {
        room = room ? room * 2 : 16;
        kept = realloc(kept, room * sizeof *kept);
        if (!kept) fy_out_of_memory("the list of cast weights");
    }
    kept[n_kept++] = (kept_cast){x->id, fy_is_grad_enabled(), fy_tensor_retain(cast)};
}

/* A new reference to x in that dtype. */
static fy_tensor *as(fy_site *at, fy_tensor *x, fy_dtype to)
{
    fy_tensor *out = x->dtype == to ? x : is_weight(x, to) ? find(x, to) : NULL;
    if (out) return fy_tensor_retain(out);
    out = fy_compute(&(fy_call){.at = at, .op = FY_OP_cast, .in = {fy_arg_tensor(x)}, .dtype = to});
    if (!out) return NULL;
    if (FY_HAS_GRAPH(x)) fy_record_step(at, FY_NODE_TO, out, 1, &x, NULL, false);
    if (is_weight(x, to)) keep(x, out);
    return out;
}

static void release_kept(fy_site *at)
{
    for (size_t i = 0; i < n_kept; i++) fy_tensor_release(at, kept[i].cast, FY_WORD_scope);
    free(kept);
    kept = NULL;
    n_kept = room = 0;
}

/* ---- calls --------------------------------------------------------------------------------------------------- */

static fy_dtype widest(int n, fy_tensor *const *x, int kind)
{
    for (int i = 0; i < n; i++)
        if (is_eligible(x[i], kind) && x[i]->dtype == FY_FLOAT32) return FY_FLOAT32;
    return lower[kind];
}

/* Casts those of x that a rule of this kind of device names; cast[i]: a new reference, or NULL. False after an error. */
static bool cast_by(rule r, int kind, fy_site *at, int n, fy_tensor **x, fy_tensor **cast)
{
    fy_dtype to = r == LOWER ? lower[kind] : r == WIDEST ? widest(n, x, kind) : FY_FLOAT32;
    for (int i = 0; i < n; i++) {
        if (!is_eligible(x[i], kind) || x[i]->dtype == to) continue;
        x[i] = cast[i] = as(at, x[i], to);
        if (!x[i]) return false;
    }
    return true;
}

bool fy_autocast_call(const fy_call *c, fy_cast_call *out)
{
    fy_tensor *x[FY_MAX_INPUTS];
    bool any = false;
    int n = fy_ops[c->op].nin, call = c->as ? c->as : c->op;
    if (c->out) return false;
    *out = (fy_cast_call){.call = *c, .ok = true};
    for (int i = 0; i < n; i++) x[i] = c->in[i].is_tensor ? c->in[i].tensor : NULL;
    for (int kind = 0; kind < KINDS && out->ok; kind++) {
        rule r = lower[kind] ? rules[call][kind] : NONE;
        if (r == TOTAL && is_eligible(x[0], kind) && c->dtype == FY_DTYPE_UNSET) {
            out->call.dtype = FY_FLOAT32;
            any = true;
        } else if (r != NONE && r != TOTAL) {
            out->ok = cast_by(r, kind, c->at, n, x, out->cast);
        }
    }
    for (int i = 0; i < n; i++) {
        if (!out->cast[i]) continue;
        out->call.in[i].tensor = out->cast[i];
        any = true;
    }
    return any || !out->ok;
}

void fy_autocast_call_end(const fy_cast_call *c)
{
    for (int i = 0; i < FY_MAX_INPUTS; i++) fy_tensor_release(c->call.at, c->cast[i], FY_WORD_free);
}

bool fy_autocast_take(fy_site *at, int call, int n, fy_tensor **x)
{
    fy_tensor *cast[FY_MAX_INPUTS] = {NULL};
    bool ok = true;
    if (!fy_autocast_is_on) return true;
    for (int kind = 0; kind < KINDS && ok; kind++)
        if (lower[kind] && rules[call][kind] != NONE) ok = cast_by(rules[call][kind], kind, at, n, x, cast);
    for (int i = 0; i < n; i++) {
        if (ok && x[i] && !cast[i]) fy_tensor_retain(x[i]);
        if (!ok) fy_tensor_release(at, cast[i], FY_WORD_free);
    }
    return ok;
}

void fy_autocast_release(fy_site *at, int n, fy_tensor *const *x)
{
    for (int i = 0; i < n && fy_autocast_is_on; i++) fy_tensor_release(at, x[i], FY_WORD_free);
}

/* ---- blocks -------------------------------------------------------------------------------------------------- */

static int kind_of(fy_site *at, const char *device)
{
    if (device && strcmp(device, "cuda") == 0) return CARDS;
    if (device && strcmp(device, "cpu") == 0) return CPU;
    fy_fail(at, "device", "write \"cuda\", which means every card, or \"cpu\"",
            "User specified autocast device_type must be 'cuda' or 'cpu' (not '%.40s')", device ? device : "NULL");
    return -1;
}

/* FY_DTYPE_UNSET after a warning. */
static fy_dtype usable(fy_site *at, int kind, fy_dtype dtype)
{
    if (dtype == FY_DTYPE_UNSET) dtype = kind == CARDS ? FY_FLOAT16 : FY_BFLOAT16;
    if (kind == CARDS && fy_dev_count() < 2)
        return fy_advise(at, "User provided device_type of 'cuda', but CUDA is not available. Disabling"),
               FY_DTYPE_UNSET;
    if (dtype == FY_BFLOAT16 || (kind == CARDS && dtype == FY_FLOAT16)) return dtype;
    fy_advise(at, "In %s autocast, but the target dtype is not supported. Disabling autocast. %s.",
              kind == CARDS ? "CUDA" : "CPU",
              kind == CARDS ? "CUDA Autocast only supports dtypes of float16 and bfloat16"
                            : "CPU Autocast only supports dtype of bfloat16");
    return FY_DTYPE_UNSET;
}

static void set(fy_site *at, int kind, fy_dtype to)
{
    char text[40];
    fy_dtype was = lower[kind];
    if (was == to) return;
    lower[kind] = to;
    fy_autocast_is_on = lower[CPU] || lower[CARDS];
    snprintf(text, sizeof text, "autocast %s %s", kind == CARDS ? "cuda" : "cpu", fy_dtype_name(to ? to : was));
    fy_mode_emit(at, text, to != FY_DTYPE_UNSET);
}

fy_autocast fy_autocast_begin(fy_site *at, const char *device, fy_dtype dtype, bool enabled)
{
    fy_depths depths = FY_REGION_OF_BLOCK(at, FY_WORD_autocast, FY_ABSENT, FY_ABSENT);
    fy_session_start();
    fy_autocast block = {.at = at, .kind = kind_of(at, device), .turns = 1, .depths = depths};
    open_blocks++;
    if (block.kind < 0) return block;
    block.before = lower[block.kind];
    set(at, block.kind, enabled ? usable(at, block.kind, dtype) : FY_DTYPE_UNSET);
    return block;
}

void fy_autocast_end(fy_autocast *block)
{
    fy_region_resume(&block->depths);
    if (block->kind >= 0) set(block->at, block->kind, block->before);
    if (--open_blocks == 0) release_kept(block->at);
    fy_region_close(&block->depths);
}

bool fy_is_autocast_enabled_at(fy_site *at, const char *device)
{
    FY_CALL(at);
    int kind = kind_of(at, device);
    return kind >= 0 && lower[kind];
}

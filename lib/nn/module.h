/* module.h: modules: what they hold under which names, and how their results are computed. */
#ifndef FERRY_MODULE_H
#define FERRY_MODULE_H

#include "tensor.h"

typedef enum fy_member_kind { FY_MEMBER_PARAMETER, FY_MEMBER_BUFFER, FY_MEMBER_MODULE } fy_member_kind;

typedef struct fy_member {
    fy_member_kind kind;
    const char *name;  /* interned: "weight" */
    fy_tensor *tensor; /* owned */
    fy_module *module; /* owned */
} fy_member;

/* The result of one of Ferry's own modules, in the scope that fy_module_result opened. */
typedef fy_tensor *(*fy_layer)(fy_site *at, fy_module *m, fy_tensor *x);

struct fy_module_base {
    const char *type; /* "Linear" */
    const char *path; /* interned: "encoder.0"; NULL: no module holds it */
    bool held;        /* by another module */
    bool training;
    fy_layer layer;     /* one of Ferry's own */
    fy_forward forward; /* the program's */
    fy_member *members; /* in the order of their registration */
    size_t n, room;
    fy_tensor **parameters; /* of fy_parameters; made anew by each call */
};

extern struct fy_module_base fy_module_freed; /* the base of a module that was freed */

/* module.c. A new module of this size, whose struct begins with fy_module; NULL after an error. */
void *fy_module_make(fy_site *at, size_t bytes, const char *type, fy_layer layer);
bool fy_module_check(fy_site *at, int i, const fy_module *m); /* is argument i a live module? False after an error */
/* Registration. The module takes over the reference to x, or the child; NULL and false after an error, which releases
 * them. */
fy_tensor *fy_module_hold(fy_site *at, fy_module *m, fy_member_kind kind, const char *name, fy_tensor *x);
bool fy_module_hold_module(fy_site *at, fy_module *m, const char *name, fy_module *child);
/* A full name, "encoder.0.weight". */
const char *fy_module_full_name(const fy_module *m, const char *name, char *buf, size_t room);
/* Calls `each` for every member that is a tensor, in PyTorch's order: a module's own, parameters first, then those of
 * the modules in it. Stops, and returns false, when `each` does. */
typedef bool (*fy_member_visit)(fy_module *m, fy_member *member, void *context);
bool fy_module_each(fy_module *m, fy_member_visit each, void *context);
void fy_module_release(fy_site *at, fy_module *m);

/* call.c: a reference to the module's result for x, named `name` (interned, or NULL); NULL after an error. */
fy_tensor *fy_module_result(fy_site *at, fy_module *m, fy_tensor *x, const char *name);

#endif

/* npy_save.c: fy_save_npy. */
#include <stdlib.h>

#include "error.h"
#include "event.h"
#include "file_replacement.h"
#include "frame.h"
#include "npy.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"
#include "transfer.h"

char *fy_npy_elements(fy_site *at, fy_tensor *x, size_t *bytes)
{
    *bytes = (size_t)fy_tensor_numel(x) * x->element_size;
    char *data = fy_copy_to_host(at, x, FY_WORD_save);
    for (int64_t i = 0; data && x->dtype == FY_BOOL && i < fy_tensor_numel(x); i++)
        data[i] = data[i] != 0; /* NumPy: 0 or 1 */
    return data;
}

bool fy_npy_check_dtype(fy_site *at, const fy_tensor *x)
{
    return x->dtype != FY_BFLOAT16 || fy_fail_about(at, "dtype", "convert it first: fy_to(x, FY_FLOAT32)", 0, NULL,
                                                    "Got unsupported ScalarType BFloat16: NumPy has no such type");
}

bool fy_save_npy_at(fy_site *at, const char *path, fy_tensor *x)
{
    FY_CALL(at);
    char header[512];
    size_t bytes;
    fy_replacement file = {.at = at, .path = path, .example = "fy_save_npy(\"data.npy\", x)"};
    fy_session_start();
    if (!fy_check(at, 1, x) || !fy_npy_check_dtype(at, x) || !fy_replacement_begin(&file)) return false;
    fy_shape shape = fy_geometry_of(x).shape;
    size_t n = fy_npy_write_header(x->dtype, &shape, header);
    char *data = fy_npy_elements(at, x, &bytes);
    if (!data) {
        fy_replacement_cancel(&file);
        return false;
    }
    bool ok = fy_replacement_end(&file, 2, (fy_file_part[]){{header, n}, {data, bytes}});
    free(data);
    if (ok) fy_emit_read(at, x, FY_WORD_save);
    if (ok) fy_narrate_flush();
    return ok;
}

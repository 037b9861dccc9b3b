/* Lesson 19: the file's tensors are put on the CPU, where they are needed, and not on the card that saved them. */
#include "grade.h"

/* y = x w^T, the product of the rows of both. */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x"), w = grade_given(g, "w");
    int64_t rows = x.shape[0], out = w.shape[0], in = w.shape[1], shape[2] = {rows, out};
    bool fit = x.ndim == 2 && w.ndim == 2 && x.shape[1] == in;
    double *want = fit ? grade_numbers(g, rows * out) : NULL;
    for (int64_t at = 0; want && at < rows * out; at++)
        for (int64_t k = 0; k < in; k++) want[at] += x.data[at / out * in + k] * w.data[at % out * in + k];
    return check_values(g, "y", want, 2, shape);
}

static bool check_from_file(grading *g)
{
    const char *name = "from-the-file", *want = "weights of the file";
    const fy_event *answer = grade_answer(g, "y").event;
    const fy_event *load = next_event(g, NULL, host_write, is->via == FY_WORD_load && leads_to(g, it, answer));
    if (load) return check(g, name, true, load, want, want, "The weights came from the file.");
    return check(g, name, false, answer, want, "other weights",
                 grade_say(g,
                           "y, submitted at line %d, was not computed with the weights of the file: load them with "
                           "fy_load_state_dict. A program that continues later has nothing but the file.",
                           grade_line(answer)));
}

/* Else there is nothing to learn: a file that the CPU saved is loaded there. */
static bool check_saved_there(grading *g)
{
    const char *name = "saved-on-the-card", *want = "a file that was saved from the card";
    const fy_event *load = next_event(g, NULL, host_write, is->via == FY_WORD_load), *save = NULL;
    each_event(g, read, host_read) /* the last file that was written before */
        if (read->is.host_read.via == FY_WORD_save && (!load || read->seq < load->seq)) save = read;
    if (save && !storage_is_on_card(g, save->is.host_read.storage)) save = NULL;
    return check(
        g, name, save, save ? save : grade_answer(g, "y").event, want, save ? want : "saved from CPU RAM",
        save ? "The file was saved from the card."
             : "The file was not written from the card, where the trained network is; leave that part as it is.");
}

static bool check_loads_here(grading *g)
{
    const char *name = "loads-here", *want = "put on the CPU at once";
    const fy_event *e = shows_misconception(g, "checkpoint-loads-here");
    if (!e) return check(g, name, true, NULL, want, want, "The file's tensors were not put on the card.");
    return check(
        g, name, false, e, want, "put on the card first",
        grade_say(g,
                  "fy_load_state_dict at line %d put the file's tensor on %s, and copied it to the network, on "
                  "the CPU, from there: two crossings of the bus. Say where it is to be put.",
                  grade_line(e), grade_device(g, e->is.copy.dst.device)));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y")) return;
    check_from_file(g);
    check_numbers(g);
    check_saved_there(g);
    check_loads_here(g);
    check_copies(g, "copies-to-card", FY_WORD_h2d, 1, false);
    check_copies(g, "copies-back", FY_WORD_d2h, 1, true);
    check_answer_at_home(g, "y");
}

const lesson_check lesson_check_19 = {"19-checkpoint", judge};

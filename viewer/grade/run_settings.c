/* run_settings.c: see run_settings.h. What a program sets before Ferry starts counts for its run: a constructor, a
 * wrapper. */
#include "run_settings.h"

#include <stdlib.h>

#include "event.h"
#include "json_scan.h"
#include "sim_config.h"

static const char *expected_cards; /* NULL: any */

void grade_expect_cards(const char *spec) { expected_cards = spec; }

static bool differs(grading *g, const fy_event *at, const char *variable, const char *expected, const char *got)
{
    return check(g, "lesson-settings", false, at, expected, got,
                 grade_say(g,
                           "This run had %s, and the lesson gives it %s: remove what sets %s. The limits hold for the "
                           "lesson's settings.",
                           got, expected, variable));
}

static bool check_seed(grading *g, const fy_event *session)
{
    const uint64_t seed = grade_seed(g);
    const int64_t was = session->is.session.seed;
    if (seed >= UINT64_C(1) << 53 || was == (int64_t)seed) return true; /* JSON numbers are exact up to 2^53 */
    return differs(g, session, "FERRY_SEED", grade_say(g, "the seed %llu", (unsigned long long)seed),
                   grade_say(g, "the seed %lld", (long long)(was == FY_ABSENT ? -1 : was)));
}

/* The first figure of a card that the session event has differently. */
static bool check_card(grading *g, const fy_event *session, json device, const fy_sim_config *want)
{
    const double capacity = json_number(json_member(device, "capacity"));
    const json model = json_member(device, "model");
    if (capacity != (double)want->capacity)
        return differs(g, session, "FERRY_SIM", grade_say(g, "a card of %.0f bytes", (double)want->capacity),
                       grade_say(g, "a card of %.0f bytes", capacity));
    for (const fy_card_param *f = fy_card_params; f->option; f++) {
        json figure = json_member(model, f->name);
        const double is = json_is_number(figure) ? json_number(figure) : 0,
                     lesson = (double)fy_card_param_get(want->card, f);
        if (is != lesson)
            return differs(g, session, "FERRY_SIM", grade_say(g, "a card whose %s is %.0f", f->name, lesson),
                           grade_say(g, "a card whose %s is %.0f", f->name, is));
    }
    return true;
}

static bool check_cards(grading *g, const fy_event *session)
{
    fy_sim_config want;
    char why[256];
    if (!expected_cards) return true;
    if (session->is.session.clock != FY_WORD_model)
        return differs(g, session, "FERRY_GPU", "the simulated card", "another card");
    if (*expected_cards) setenv("FERRY_SIM", expected_cards, 1);
    else unsetenv("FERRY_SIM");
    unsetenv("CUDA_VISIBLE_DEVICES");
    if (!fy_sim_config_read(&want, why, sizeof why)) return true;
    fy_bytes text = fy_event_bytes(session, session->is.session.devices);
    json list = json_of(text.data, text.size), device;
    int cards = 0;
    while (json_next(&list, NULL, &device)) {
        if (json_is(json_member(device, "kind"), "cpu")) continue;
        cards++;
        if (!check_card(g, session, device, &want)) return false;
    }
    return cards == want.count || differs(g, session, "FERRY_SIM or CUDA_VISIBLE_DEVICES",
                                          grade_say(g, "%d cards", want.count), grade_say(g, "%d cards", cards));
}

/* A setting that changes what a run costs, or what it may do: a graded run is started without. */
static bool check_variables(grading *g)
{
    const fy_event *mode = next_event(g, NULL, mode, is->on && fy_event_is(it, is->mode, "launch_blocking"));
    const fy_event *wait = mode ? mode : next_event(g, NULL, sync, is->why == FY_WORD_policy);
    const fy_event *copy = next_event(g, NULL, copy, is->why == FY_WORD_policy);
    if (wait)
        return differs(g, wait, "FERRY_LAUNCH_BLOCKING", "a host that goes on meanwhile",
                       "a host that waits for each piece of work");
    if (copy)
        return differs(g, copy, "FERRY_POLICY", "errors where operands are on two devices",
                       "copies that Ferry made on its own");
    return true;
}

bool check_settings(grading *g)
{
    const fy_event *session = grade_trace(g)->events;
    return check_seed(g, session) && check_cards(g, session) && check_variables(g);
}

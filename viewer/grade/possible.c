/* possible.c: see possible.h. */
#include "possible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "json_scan.h"
#include "replay.h"
#include "sim_config.h"
#include "value_replay.h"

static const char *expected_cards; /* NULL: any */

void grade_expect_cards(const char *spec) { expected_cards = spec; }

static bool fail(grading *g, const fy_event *at, const char *expected, const char *got, const char *why)
{
    return check(g, "log-is-possible", false, at, expected, got,
                 grade_say(g, "The log cannot be what Ferry recorded: %s.", why));
}

/* The first figure of a card that the session event has differently; NULL: none. */
static const char *wrong_figure(json device, const fy_sim_config *want)
{
    json model = json_member(device, "model");
    if (json_number(json_member(device, "capacity")) != (double)want->capacity) return "capacity";
    for (const fy_card_param *f = fy_card_params; f->option; f++) {
        json figure = json_member(model, f->name);
        double is = json_is_number(figure) ? json_number(figure) : 0;
        if (is != (double)fy_card_param_get(want->card, f)) return f->name;
    }
    return NULL;
}

/* A program that sets FERRY_SIM before Ferry starts chooses its own cards. */
static bool check_cards(grading *g)
{
    const fy_event *session = grade_trace(g)->events;
    fy_sim_config want;
    char why[256];
    if (!expected_cards) return true;
    if (session->is.session.clock != FY_WORD_model)
        return fail(g, session, "the model's clock", "another one", "its clock is not the model's");
    if (*expected_cards) setenv("FERRY_SIM", expected_cards, 1);
    else unsetenv("FERRY_SIM");
    unsetenv("CUDA_VISIBLE_DEVICES");
    if (!fy_sim_config_read(&want, why, sizeof why)) return true;
    fy_bytes text = fy_event_bytes(session, session->is.session.devices);
    json list = json_of(text.data, text.size), device;
    int cards = 0;
    while (json_next(&list, NULL, &device)) {
        if (json_is(json_member(device, "kind"), "cpu")) continue;
        const char *figure = wrong_figure(device, &want);
        cards++;
        if (figure)
            return fail(
                g, session, "the lesson's card", grade_say(g, "another %s", figure),
                grade_say(g, "its card has another %s than the lesson's, as if FERRY_SIM had been set by the program",
                          figure));
    }
    if (cards == want.count) return true;
    return fail(g, session, grade_say(g, "cards: %d", want.count), grade_say(g, "cards: %d", cards),
                grade_say(g, "it has %d cards, and the lesson %d", cards, want.count));
}

/* A setting that changes what a run costs, or what it may do: a graded run is started without. */
static bool check_settings(grading *g)
{
    const fy_event *mode = next_event(g, NULL, mode, is->on && fy_event_is(it, is->mode, "launch_blocking"));
    const fy_event *wait = next_event(g, NULL, sync, is->why == FY_WORD_policy);
    const fy_event *copy = next_event(g, NULL, copy, is->why == FY_WORD_policy);
    const char *setting = mode || wait ? "FERRY_LAUNCH_BLOCKING" : copy ? "FERRY_POLICY" : NULL;
    if (!setting) return true;
    const char *does =
        mode || wait ? "the host waits for each piece of work" : "Ferry copies what the program does not";
    return check(g, "log-is-possible", false,
                 mode   ? mode
                 : wait ? wait
                        : copy,
                 "Ferry's settings as they were", grade_say(g, "%s changed", setting),
                 grade_say(g,
                           "The program changed %s, a setting of Ferry, so that %s: remove what sets it. A graded run "
                           "has the settings that the lesson gives it.",
                           setting, does));
}

bool check_possible(grading *g)
{
    char why[512] = "";
    if (!check_cards(g) || !check_settings(g)) return false;
    const fy_event *at = replay_contradiction(grade_trace(g), why, sizeof why);
    if (at) return fail(g, at, "the model's time", "another time", why);
    value_replay values = replay_values(g);
    if (values.crowded) return check(g, "log-is-possible", false, values.at, values.expected, values.said, values.why);
    return values.at ? fail(g, values.at, values.expected, values.said, values.why) : true;
}

/* synchronize.c: device queries and synchronize; the clock; the program's own marks; modes. */
#include "synchronize.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "completion.h"
#include "device.h"
#include "event.h"
#include "frame.h"
#include "launch_record.h"
#include "run_work.h"
#include "session_hooks.h"
#include "vector_clock.h"

bool fy_cuda_is_available(void) { return fy_cuda_device_count() > 0; }
int fy_cuda_device_count(void)
{
    int cards = fy_dev_count() - 1;
    fy_dev_note_late_setting();
    return cards;
}

void fy_cuda_synchronize_at(fy_site *at)
{
    FY_CALL(at);
    fy_time t = {0};
    fy_session_start();
    fy_dev *card = fy_dev_parse(at, "cuda");
    if (!card) return;
    if (!card->backend->wait(card, NULL, NULL, 0, &t)) {
        fy_fail_device(at, card, "finish its work");
        return;
    }
    fy_order_wait_card(card->number);
    fy_completion_poll(card);
    FY_EMIT(at, sync, .scope = FY_WORD_device, .device = (uint8_t)card->number, .stream = FY_ABSENT,
            .why = FY_WORD_user, .held = t.held);
    fy_narrate_flush();
}

/* Not under `ferry run` (FERRY_LOG_FD) or narration, which say it themselves. */
void fy_say_modelled(void)
{
    static atomic_flag printed = ATOMIC_FLAG_INIT;
    if (!fy_dev_model_clock() || fy_narration_is_on() || getenv("FERRY_LOG_FD") || atomic_flag_test_and_set(&printed))
        return;
    fprintf(stderr, "ferry: times are modelled for %s, not measured\n", fy_dev_at(fy_dev_count() > 1)->card_name);
}

#undef fy_now
int64_t fy_now(void)
{
    fy_session_start();
    fy_dev_model_clock(); /* for its effect: chooses the clock, by the kind of card */
    return fy_clock_now();
}

int64_t fy_now_at(fy_site *at)
{
    FY_CALL(at);
    int64_t now = fy_now();
    FY_EMIT(at, mark, .now = now);
    fy_say_modelled();
    return now;
}

void fy_mark_at(fy_site *at, const char *text)
{
    FY_CALL(at);
    fy_session_start();
    FY_EMIT(at, mark, .text = fy_ref_str(text ? text : ""), .now = fy_clock_now());
}

void fy_mode_emit(fy_site *at, const char *mode, bool on) { FY_EMIT(at, mode, .mode = fy_ref_str(mode), .on = on); }

/* sim_config.c: which cards are simulated.
 *
 *   FERRY_SIM=laptop                     a card of card_models.c, with 512 MiB of VRAM
 *            =h200:capacity=1GiB,gpus=4  VRAM of each, and how many cards
 *            =h200:bus=8GB/s,peer=off    any parameter of the model (card_params.c); peer access on or off
 *            =FILE                       a card from a file (card_file.c); options may follow it, too
 *   CUDA_VISIBLE_DEVICES=2,0             which of them the program sees, and in which order, by CUDA's rules: the list
 *                                        ends at the first invalid entry; empty or -1 hides all
 *
 * An invalid value is an error: a guess could teach a learner something false. */
#include "sim_config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "card_params.h"

static const int64_t least_capacity = 2 << 20; /* the caching allocator's smallest segment */

static bool option_is(const char *option, size_t n, const char *name)
{
    size_t length = strlen(name);
    return n >= length && memcmp(option, name, length) == 0 && (n == length || option[length] == '=');
}

/* One option, n characters; `card` is this process's copy of the model. */
static bool read_option(fy_sim_config *c, fy_card *card, const char *option, size_t n, char *why, size_t room)
{
    int shown = (int)(n < 40 ? n : 40);
    if (option_is(option, n, "gpus")) {
        c->count = n == 6 ? option[5] - '0' : 0;
        if (c->count >= 1 && c->count <= FY_MOST_SIMS) return true;
        snprintf(why, room, "'%.*s' is not a valid number of cards; write gpus=2 (1 to %d)", shown, option,
                 FY_MOST_SIMS);
        return false;
    }
    if (option_is(option, n, "capacity")) {
        bool ok = n > 9 && fy_card_param_read(option + 9, n - 9, FY_UNIT_BYTES, &c->capacity);
        if (ok && c->capacity >= least_capacity && c->capacity <= FY_SIM_MOST_CAPACITY) return true;
        snprintf(why, room,
                 "'%.*s' is not a valid value for capacity; write a number and its unit, as in capacity=64MiB (KiB, "
                 "MiB or GiB; at least 2MiB, the caching allocator's smallest segment)",
                 shown, option);
        return false;
    }
    if (n == 8 && memcmp(option, "peer=off", n) == 0) return c->peers = false, true;
    if (n == 7 && memcmp(option, "peer=on", n) == 0) return c->peers = true;
    return fy_card_param_option(card, option, n, why, room);
}

static bool read_sim(fy_sim_config *c, const char *value, char *why, size_t room)
{
    static fy_card card; /* of this process: devices are opened once */
    static char key[PATH_MAX], name[FY_CARD_NAME];
    char wrong[300];
    size_t n = strcspn(value, ":");
    snprintf(key, sizeof key, "%.*s", (int)(n < sizeof key ? n : sizeof key), value);
    const fy_card *known = fy_card_find(key);
    c->card = &card;
    if (known) card = *known;
    else if (access(key, F_OK) != 0) {
        snprintf(why, room, "FERRY_SIM=%.60s is not a known card; known: %s, as in FERRY_SIM=h200, or a card's file%s",
                 value, fy_card_keys(),
                 key[strcspn(key, "=")] ? "; options follow the card, as in h200:capacity=1GiB" : "");
        return false;
    } else if (!fy_card_file_read(key, &card, name, wrong, sizeof wrong)) {
        snprintf(why, room, "FERRY_SIM=%.60s: %s", value, wrong);
        return false;
    }
    for (const char *p = value + n; *p; p += n) {
        n = strcspn(++p, ",");
        if (read_option(c, &card, p, n, wrong, sizeof wrong)) continue;
        snprintf(why, room, "FERRY_SIM=%.60s: %s", value, wrong);
        return false;
    }
    return true;
}

/* The card number at *p; -1 if it is invalid or already listed. */
static int next_visible(const char **p, int cards, const fy_sim_config *c)
{
    int number = 0;
    const char *start = *p;
    for (; **p >= '0' && **p <= '9' && number < 100; ++*p) number = number * 10 + (**p - '0');
    if (*p == start || (**p && **p != ',') || number >= cards) return -1;
    for (int i = 0; i < c->count; i++)
        if (c->physical[i] == number) return -1;
    return number;
}

bool fy_sim_config_read(fy_sim_config *c, char *why, size_t room)
{
    const char *value = getenv("FERRY_SIM"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    *c = (fy_sim_config){.capacity = FY_SIM_CAPACITY, .peers = true, .count = 1};
    if (!read_sim(c, value && *value ? value : "h200", why, room)) return false;

    int cards = c->count;
    for (int i = 0; i < cards; i++) c->physical[i] = i;
    if (!visible) return true;
    c->count = 0;
    for (int number; (number = next_visible(&visible, cards, c)) >= 0;) {
        c->physical[c->count++] = number;
        if (*visible++ != ',') break;
    }
    return true;
}

/* card_params.c: a card's model parameters by name; parsing of their values. */
#include "card_params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(fy_card, member)
#define RATES 1000000, 1000000000000000 /* 1 MB/s to 1000 TB/s */
#define TIMES 0, 1000000000             /* to a second */

const fy_card_param fy_card_params[] = {
    {"flops", "flops_f32", AT(flops_f32), FY_UNIT_FLOPS, true, true, RATES, "flops=15TFLOPS", false},
    {"memory", "memory_bandwidth", AT(memory_bandwidth), FY_UNIT_RATE, true, true, RATES, "memory=256GB/s", false},
    {"bus", "bus_bandwidth", AT(bus_bandwidth), FY_UNIT_RATE, true, true, RATES, "bus=8GB/s", false},
    {"staging", "staging_bandwidth", AT(staging_bandwidth), FY_UNIT_RATE, true, true, RATES, "staging=6GB/s", false},
    {"chunk", "staging_chunk", AT(staging_chunk), FY_UNIT_BYTES, false, true, 256, 1 << 30, "chunk=4MiB", false},
    {"latency", "bus_latency", AT(bus_latency), FY_UNIT_TIME, false, true, TIMES, "latency=2us", false},
    {"call", "call_overhead", AT(call_overhead), FY_UNIT_TIME, false, true, TIMES, "call=3us", false},
    {"launch", "launch_overhead", AT(launch_overhead), FY_UNIT_TIME, false, true, TIMES, "launch=4us", false},
    {"kernel", "kernel_latency", AT(kernel_latency), FY_UNIT_TIME, false, true, TIMES, "kernel=3us", false},
    {"peer", "peer_bandwidth", AT(peer_bandwidth), FY_UNIT_RATE, true, false, RATES, "peer=25GB/s", false},
    {"queue", "launch_queue", AT(launch_queue), FY_UNIT_COUNT, false, false, 1, 65536, "queue=1024", false},
    {"malloc", "malloc_overhead", AT(malloc_overhead), FY_UNIT_TIME, false, false, TIMES, "malloc=100us", false},
    {"free", "free_overhead", AT(free_overhead), FY_UNIT_TIME, false, false, TIMES, "free=100us", false},
    {"pin", "pin_overhead", AT(pin_overhead), FY_UNIT_TIME, false, false, TIMES, "pin=50us", false},
    {"pinning", "pin_bandwidth", AT(pin_bandwidth), FY_UNIT_RATE, true, false, RATES, "pinning=3GB/s", false},
    {"unpinning", "unpin_bandwidth", AT(unpin_bandwidth), FY_UNIT_RATE, true, false, RATES, "unpinning=16GB/s", false},
    {"double", "flops_f64", AT(flops_f64), FY_UNIT_FLOPS, true, false, RATES, "double=250GFLOPS", true},
    {"half", "flops_f16", AT(flops_f16), FY_UNIT_FLOPS, true, false, RATES, "half=30TFLOPS", true},
    {"half_peak", "flops_f16_peak", AT(flops_f16_peak), FY_UNIT_FLOPS, true, false, RATES, "half_peak=40TFLOPS", true},
    {0},
};

static const struct unit {
    fy_unit of;
    const char *name;
    double size;
} units[] = {
    {FY_UNIT_BYTES, "KiB", 1 << 10}, {FY_UNIT_BYTES, "MiB", 1 << 20}, {FY_UNIT_BYTES, "GiB", 1 << 30},
    {FY_UNIT_BYTES, "KB", 1e3},      {FY_UNIT_BYTES, "MB", 1e6},      {FY_UNIT_BYTES, "GB", 1e9},
    {FY_UNIT_RATE, "KB/s", 1e3},     {FY_UNIT_RATE, "MB/s", 1e6},     {FY_UNIT_RATE, "GB/s", 1e9},
    {FY_UNIT_RATE, "TB/s", 1e12},    {FY_UNIT_FLOPS, "MFLOPS", 1e6},  {FY_UNIT_FLOPS, "GFLOPS", 1e9},
    {FY_UNIT_FLOPS, "TFLOPS", 1e12}, {FY_UNIT_TIME, "ns", 1},         {FY_UNIT_TIME, "us", 1e3},
    {FY_UNIT_TIME, "ms", 1e6},       {FY_UNIT_COUNT, "", 1},
};

int64_t fy_card_param_get(const fy_card *card, const fy_card_param *f)
{
    const char *at = (const char *)card + f->offset;
    double real;
    int64_t whole;
    memcpy(&real, at, sizeof real);
    memcpy(&whole, at, sizeof whole);
    return f->real ? llround(real) : whole;
}

void fy_card_param_set(fy_card *card, const fy_card_param *f, int64_t value)
{
    double real = (double)value;
    memcpy((char *)card + f->offset, f->real ? (void *)&real : (void *)&value, sizeof value);
}

/* Digits with an optional decimal point; no sign, no exponent. Unlike strtod it does not depend on the locale. */
static const char *read_number(const char *p, const char *end, double *number)
{
    double scale = 1;
    bool point = false;
    const char *start = p;
    for (*number = 0; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !point && p > start)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        *number = *number * 10 + (*p - '0');
        if (point) scale *= 10;
    }
    *number /= scale;
    return p > start && p[-1] != '.' ? p : NULL;
}

bool fy_card_param_read(const char *text, size_t n, fy_unit unit, int64_t *value)
{
    double number;
    const char *p = read_number(text, text + n, &number);
    for (size_t i = 0; p && i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].name);
        if (units[i].of != unit || (size_t)(text + n - p) != length || memcmp(p, units[i].name, length)) continue;
        number *= units[i].size;
        if (!(number <= 9007199254740992.0)) return false;
        *value = llround(number);
        return true;
    }
    return false;
}

bool fy_card_param_option(fy_card *card, const char *option, size_t n, char *why, size_t room)
{
    const char *equals = memchr(option, '=', n);
    size_t length = equals ? (size_t)(equals - option) : n;
    const fy_card_param *f = fy_card_params;
    while (f->option && (strlen(f->option) != length || memcmp(f->option, option, length))) f++;
    if (!f->option) {
        int used = snprintf(why, room, "there is no option '%.*s'; known: gpus, capacity",
                            (int)(length < 40 ? length : 40), option);
        for (f = fy_card_params; f->option && used > 0 && (size_t)used < room; f++)
            used += snprintf(why + used, room - (size_t)used, ", %s", f->option);
        return false;
    }

    int64_t value;
    if (!equals || !fy_card_param_read(equals + 1, n - length - 1, f->unit, &value) || value < f->least ||
        value > f->most) {
        snprintf(why, room, "'%.*s' is not a valid value for %s; write a number%s, as in %s", (int)(n < 40 ? n : 40),
                 option, f->option, f->unit == FY_UNIT_COUNT ? " from 1 to 65536" : " and its unit", f->example);
        return false;
    }
    fy_card_param_set(card, f, value);
    return true;
}

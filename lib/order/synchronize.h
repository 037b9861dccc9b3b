/* synchronize.h: the notice that times are modelled; modes in the log. */
#ifndef FERRY_SYNCHRONIZE_H
#define FERRY_SYNCHRONIZE_H

#include "ferry.h"

void fy_mode_emit(fy_site *at, const char *mode, bool on); /* the mode was switched on, or off */
void fy_say_modelled(void); /* on stderr, once per process, where the program reads modelled times */

#endif

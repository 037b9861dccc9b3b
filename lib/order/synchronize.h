/* synchronize.h: the notice that times are modelled. */
#ifndef FERRY_SYNCHRONIZE_H
#define FERRY_SYNCHRONIZE_H

void fy_say_modelled(void); /* on stderr, once per process, where the program reads modelled times */

#endif

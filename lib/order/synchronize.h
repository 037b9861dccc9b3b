/* synchronize.h: what is said of the clock. */
#ifndef FERRY_SYNCHRONIZE_H
#define FERRY_SYNCHRONIZE_H

void fy_say_modelled(void); /* on stderr, once, to whoever reads times that nobody measured */

#endif

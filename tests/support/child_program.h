/* child_program.h: source of a program whose first argument selects a misbehaviour; tests write it to a file and
 * compile it. */
#ifndef CHILD_PROGRAM_H
#define CHILD_PROGRAM_H

extern const char child_program[];

#endif

/* child_program.h: a program that misbehaves in the way its first argument says; the tests write it to
 * a file and compile it. */
#ifndef CHILD_PROGRAM_H
#define CHILD_PROGRAM_H

extern const char child_program[];

#endif

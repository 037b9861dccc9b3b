/* training_programs.h: programs that show a misconception about training, at the line that ends in HERE, and their
 * corrected versions; other ways to write them, and programs that resemble one. For misconception_programs.c and
 * near_misses.c. */
#ifndef TRAINING_PROGRAMS_H
#define TRAINING_PROGRAMS_H

void moved_leaf(void), leaf_on_the_card(void);                   /* moved-leaf-is-the-leaf */
void mask_left_behind(void), mask_registered(void);              /* all-follow-their-module */
void state_left_behind(void), state_made_on_the_card(void);      /* optimizer-at-any-time */
void losses_with_graphs(void), losses_without_graphs(void);      /* sum-of-losses-is-a-number */
void evaluation_that_saves(void), evaluation_without_grad(void); /* eval-stops-saving */
void checkpoint_by_the_card(void), checkpoint_mapped(void);      /* checkpoint-loads-here */

/* Other ways to write them. */
void moved_leaf_each_step(void), mask_copied_each_time(void), optimizer_of_the_original(void), mean_with_graphs(void),
    scores_with_a_graph(void), checkpoint_of_an_absent_card(void);

/* Correct. */
void gradient_wanted_at_home(void), data_of_the_loop(void), optimizer_before_the_move(void), terms_of_one_loss(void),
    graph_of_leaves(void), checkpoint_on_its_card(void);

#endif

/* loss.h: the losses' checks, made before anything runs (loss_check.c). Each returns false after an error. */
#ifndef FERRY_LOSS_H
#define FERRY_LOSS_H

#include "ferry.h"
#include "tensor.h"

bool fy_loss_check_real(fy_site *at, fy_tensor *a, fy_tensor *b);
bool fy_loss_check_rows(fy_site *at, fy_tensor *x, fy_tensor *target);
bool fy_loss_check_classes(fy_site *at, fy_tensor *x, fy_tensor *target);
bool fy_loss_check_reduction(fy_site *at, fy_reduction how);
bool fy_loss_check_smoothing(fy_site *at, double smoothing);
bool fy_loss_check_probabilities(fy_site *at, fy_tensor *target);

#endif

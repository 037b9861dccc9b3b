/* value_product.h: the elements of a matrix product, computed again. */
#ifndef FERRY_VALUE_PRODUCT_H
#define FERRY_VALUE_PRODUCT_H

#include "element.h"

/* out, whose shape and dtype are set, gets the elements of a b; false: they are no matrices that have this product, or
 * nothing is in them. */
bool value_product(const array *a, const array *b, array *out);

#endif

#define WB_UNIT products
#include "unit.hpp"

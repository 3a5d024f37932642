#define WB_UNIT bits
#include "unit.hpp"

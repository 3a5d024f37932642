#define WB_UNIT casts
#include "unit.hpp"

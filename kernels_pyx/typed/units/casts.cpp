#define WB_UNIT casts
#include "templates/unit.hpp"

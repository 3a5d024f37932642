#define WB_UNIT bits
#include "templates/unit.hpp"

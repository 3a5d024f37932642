#define WB_UNIT products
#include "templates/unit.hpp"

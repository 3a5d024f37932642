#define WB_UNIT complex
#include "unit.hpp"

/* cutis.h: includes every public header. */
#ifndef CUTIS_CUTIS_H
#define CUTIS_CUTIS_H

#include "bake.h"
#include "base.h"
#include "character.h"
#include "distil.h"
#include "grasp.h"
#include "io.h"
#include "measure.h"
#include "model.h"
#include "rig.h"
#include "texture.h"
#include "zoo.h"

#endif

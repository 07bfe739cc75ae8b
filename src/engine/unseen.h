/* unseen.h: states that run on while nobody looks. */
#ifndef ENGINE_UNSEEN_H
#define ENGINE_UNSEEN_H

#include "cutis/model.h"

/* Whether nobody looks at the vertices of the next steps: crossings of the drawn mesh are left in them. */
void state_set_unseen(cutis_state *state, bool unseen);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The only Graphviz context. It lives as long as the process. */
#ifndef GRAIND_RENDER_GRAPHVIZ_H
#define GRAIND_RENDER_GRAPHVIZ_H

#include <graphviz/gvc.h>

/* Returns NULL if it cannot be made. Its plugins are loaded when they are first used. */
GVC_t *graphviz__context(void);

#endif

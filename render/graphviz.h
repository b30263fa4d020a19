/* SPDX-License-Identifier: BSD-2-Clause */
/* Graphviz' one context, kept for as long as the process lives. */
#ifndef GRAIND_RENDER_GRAPHVIZ_H
#define GRAIND_RENDER_GRAPHVIZ_H

#include <graphviz/gvc.h>

/* NULL when it cannot be made. Its plugins are loaded when they are first used. */
GVC_t *graphviz__context(void);

#endif

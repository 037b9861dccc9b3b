/* live_server.h: a server for a group of tests, its clients, and runs whose events the test writes. */
#ifndef LIVE_SERVER_H
#define LIVE_SERVER_H

#include "event.h"
#include "logs.h"

#include "page_client.h"
#include "server.h"

extern server *live_server;
extern char live_host[32], live_origin[48], live_token[33];
int start_live_server(void **state);
int stop_live_server(void **state);
int join(void);
/* Adds a run whose log this process writes; emit adds n events to it. */
int new_run(void);
void emit(int n);
void wait_until_no_clients(void);

#endif

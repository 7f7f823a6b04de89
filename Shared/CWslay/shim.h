#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <wslay/wslay.h>

// epoll's events hold a union, and its flags are an enumeration of C: plain functions for each use.

struct purser_event {
    uint64_t key;
    uint32_t flags;
};

static inline int purser_epoll_set(int epoll, int operation, int descriptor, uint64_t key, int reads, int writes) {
    struct epoll_event event = {.events = (reads ? EPOLLIN : 0u) | (writes ? EPOLLOUT : 0u), .data = {.u64 = key}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

/// At most `count` (no more than 64) events; as many as there were, or -1.
static inline int purser_epoll_wait(int epoll, struct purser_event *events, int count, int milliseconds) {
    struct epoll_event found[64];
    int number = epoll_wait(epoll, found, count < 64 ? count : 64, milliseconds);
    for (int index = 0; index < number; index++) {
        events[index].key = found[index].data.u64;
        events[index].flags = found[index].events;
    }
    return number;
}

static inline int purser_wakeup_open(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

enum {
    purser_epoll_add = EPOLL_CTL_ADD,
    purser_epoll_modify = EPOLL_CTL_MOD,
    purser_epoll_gone = EPOLLERR | EPOLLHUP,
    purser_epoll_writable = EPOLLOUT,
};

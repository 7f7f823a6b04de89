#pragma once
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>

// Variadic functions cannot be imported: one plain function for each kind of value.

static inline CURLcode purser_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode purser_curl_set_off(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

/// libcurl copies strings, except the bytes of CURLOPT_POSTFIELDS.
static inline CURLcode purser_curl_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return curl_easy_setopt(handle, option, value);
}

typedef size_t (*purser_curl_data)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode purser_curl_set_data(CURL *handle, CURLoption function, purser_curl_data callback) {
    return curl_easy_setopt(handle, function, callback);
}

static inline CURLcode purser_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode purser_curl_set_opensocket(CURL *handle, curl_opensocket_callback callback) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, callback);
}

/// The address inside; libcurl keeps room behind it for those of every family.
static inline const struct sockaddr *purser_curl_peer(const struct curl_sockaddr *address) {
    return &address->addr;
}

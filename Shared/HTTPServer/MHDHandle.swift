/// A daemon or a connection of libmicrohttpd that another thread has to name.
///
/// `@unchecked Sendable` is true because a handle is only passed to functions that libmicrohttpd allows on any thread
/// (`MHD_resume_connection`, `MHD_quiesce_daemon`, `MHD_stop_daemon`), a connection's only while it is suspended and
/// under the lock of its `Exchange`, a daemon's only under the lock of its `HTTPServer`.
struct MHDHandle: @unchecked Sendable {
    let pointer: OpaquePointer
}

public import Glibc

/// Attributes for posix_spawn that give a child no blocked signals.
///
/// A child inherits the signals its parent's thread blocks, and libdispatch's threads block all of them: without this a
/// service started from a test, or a broker started by a script, would never hear SIGTERM.
public enum SpawnAttributes {
    /// Calls `body` with attributes that are valid during the call.
    public static func withNoBlockedSignals<Result>(
        _ body: (UnsafePointer<posix_spawnattr_t>) throws -> Result
    ) rethrows -> Result {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        return try body(&attributes)
    }
}

import Glibc

/// How many files and sockets the process may have open.
enum DescriptorLimit {
    /// What is open besides connections and sockets: broker, metrics, files being read, event loops.
    static let others = 256

    /// Raises the limit to `count` as far as the system lets the process; what it is then.
    static func raise(to count: Int) -> Int {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        if limit.rlim_cur < rlim_t(count) {
            limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
            _ = setrlimit(resource, &limit)
            _ = getrlimit(resource, &limit)
        }
        return Int(clamping: limit.rlim_cur)
    }
}

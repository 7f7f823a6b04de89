extension Connection {
    /// The settings without which a commit that was confirmed could be lost, or rows be read in another way than this
    /// code expects.
    private static let required: [(name: String, allowed: Set<String>, told: String)] = [
        ("fsync", ["on"], "on"),
        ("full_page_writes", ["on"], "on"),
        // remote_apply waits for more than on does; remote_write and local for less.
        ("synchronous_commit", ["on", "remote_apply"], "on"),
        ("default_transaction_isolation", ["read committed"], "read committed"),
    ]

    /// The oldest server this code was tested with.
    private static let oldestServer: Int64 = 150_000

    /// Refuses a server or role under whose settings exactly-once does not hold. Call it once after opening, at start.
    /// - Throws: `unsafeSetting` naming the first such setting.
    public mutating func requireSafeSettings() throws(PostgresError) {
        let names = Self.required.map(\.name) + ["server_version_num"]
        let rows = try query(
            "SELECT name, current_setting(name) AS value FROM unnest($1::text[]) AS wanted(name)", [.textArray(names)])
        var values: [String: String] = [:]
        for row in rows { values[try row.text("name")] = try row.text("value") }
        for (name, allowed, told) in Self.required {
            let value = values[name] ?? "unknown"
            guard allowed.contains(value) else { throw .unsafeSetting(name: name, value: value, required: told) }
        }
        let version = values["server_version_num"] ?? "unknown"
        guard let number = Int64(version), number >= Self.oldestServer else {
            throw .unsafeSetting(name: "server_version_num", value: version, required: "\(Self.oldestServer) or newer")
        }
    }
}

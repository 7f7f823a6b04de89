import FoundationEssentials
import Messages

/// What a broker has otherwise than the source.
enum TopologyDifference {
    /// A line for each difference, `missing …`, `differs …` or `extra …`, sorted.
    ///
    /// - Parameters:
    ///   - exported: what `rabbitmqctl export_definitions` wrote.
    ///   - host: the virtual host.
    ///   - administrators: users that may be there besides ours, with whatever rights.
    /// - Throws: `DecodingError` if it is no such file.
    static func lines(exported: [UInt8], host: String, administrators: Set<String>) throws -> [String] {
        let decoder = JSONDecoder()
        let found = try decoder.decode(BrokerDefinitions.self, from: Data(exported)).things(in: host)
        // The hash is not compared: the source knows no passwords.
        let hashes = Dictionary(uniqueKeysWithValues: Topology.accesses.map { ($0.user, "any") })
        let definitions = Data(try Topology.definitions(virtualHost: host, passwordHashes: hashes))
        let wanted = try decoder.decode(BrokerDefinitions.self, from: definitions).things(in: host)
        let known = Set(administrators.flatMap { ["user \($0)", "permission of \($0)"] })
        var lines: [String] = []
        for (thing, properties) in wanted {
            guard let actual = found[thing] else {
                lines.append("missing  \(thing)" + consequence(of: thing))
                continue
            }
            for (name, value) in properties {
                // What is not exported cannot be compared.
                guard let present = actual[name], present != value else { continue }
                lines.append("differs  \(thing): \(name) is \(quoted(present)), not \(quoted(value))")
            }
        }
        for (thing, properties) in found where wanted[thing] == nil && !known.contains(thing) {
            let told = properties.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
                .map { "\($0.key) \(quoted($0.value))" }
            lines.append("extra    \(thing)" + (told.isEmpty ? "" : ": " + told.joined(separator: ", ")))
        }
        return lines.sorted()
    }

    private static func quoted(_ text: String) -> String { "“\(text)”" }

    /// What a reader might not know about something that is not there.
    private static func consequence(of thing: String) -> String {
        thing.hasPrefix("topic permission") ? " (without a record every routing key is allowed)" : ""
    }
}

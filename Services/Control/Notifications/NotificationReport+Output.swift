import JSON

/// The report for people and for programs.
extension NotificationReport {
    /// A name and what it is, a line each; payload and raw text only if they were asked for.
    func lines(_ options: ShowOptions) -> [String] {
        guard !isEmpty else { return ["\(uuid): neither stored nor in quarantine"] }
        return stored.flatMap { lines($0, options) } + refused.flatMap { lines($0, options) }
    }

    private func lines(_ stored: Stored, _ options: ShowOptions) -> [String] {
        var lines = ["notification \(uuid)"] + Self.lines(stored.object)
        lines += [
            "  storedAt: \(Self.time(stored.storedAt))", "  lastReceivedAt: \(Self.time(stored.lastReceivedAt))",
            "  message: \(stored.message)", "  correlationId: \(TextTable.printable(stored.correlationID))",
        ]
        for telling in stored.tellings {
            let again = telling.actor.map { " again, asked for by \(TextTable.printable($0))" } ?? ""
            let waits = telling.waits ? ", not published yet" : ""
            lines.append(
                "  told \(Self.time(telling.at)) as \(telling.type)\(again): fact \(telling.fact), caused by "
                    + "\(telling.message)\(waits)")
        }
        if options.showsPayload {
            for (key, value) in Self.decoded(stored.payload).members {
                lines.append("  \(key): \(String(decoding: JSONWriter.write(value), as: UTF8.self))")
            }
        }
        if options.showsRaw { lines.append("  raw: \(stored.raw)") }
        return lines
    }

    private func lines(_ refused: Refused, _ options: ShowOptions) -> [String] {
        let lines = ["refusal \(uuid)"] + Self.lines(refused.object)
        return options.showsRaw ? lines + ["  raw: \(TextTable.printable(refused.excerpt))"] : lines
    }

    /// Members as lines; those that end in `At` or `Date` are times.
    private static func lines(_ object: JSONObject) -> [String] {
        object.members.map { key, value in
            let text =
                switch value {
                case .integer(let number) where key.hasSuffix("At") || key.hasSuffix("Date"): time(number)
                case .integer(let number): "\(number)"
                case .string(let text): TextTable.printable(text)
                case .bool(let flag): flag ? "yes" : "no"
                default: "-"
                }
            return "  \(key): \(text)"
        }
    }

    private static func time(_ milliseconds: Int64) -> String { TimeText.text(seconds: milliseconds / 1_000) }

    /// One object; members are only ever added.
    func json(_ options: ShowOptions) -> String {
        let object: JSONObject = [
            "notifications": .array(stored.map { .object(Self.object($0, options)) }),
            "refusals": .array(
                refused.map { refused in
                    var object = refused.object
                    if options.showsRaw { object.set("raw", .string(refused.excerpt)) }
                    return .object(object)
                }),
        ]
        return String(decoding: JSONWriter.write(object), as: UTF8.self)
    }

    private static func object(_ stored: Stored, _ options: ShowOptions) -> JSONObject {
        var object = stored.object
        object.set("storedAt", .integer(stored.storedAt))
        object.set("lastReceivedAt", .integer(stored.lastReceivedAt))
        object.set("message", .string(stored.message))
        object.set("correlationId", .string(stored.correlationID))
        object.set(
            "told",
            .array(
                stored.tellings.map { telling in
                    [
                        "fact": .string(telling.fact), "type": .string(telling.type),
                        "message": .string(telling.message), "at": .integer(telling.at),
                        "actor": .text(telling.actor), "isPublished": .bool(!telling.waits),
                    ]
                }))
        if options.showsPayload { object.set("payload", .object(decoded(stored.payload))) }
        if options.showsRaw { object.set("raw", .string(stored.raw)) }
        return object
    }
}

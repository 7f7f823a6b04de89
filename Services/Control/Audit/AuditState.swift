import FoundationEssentials
import JSON

/// What a clean audit leaves for the next one: from when on everything is new to it.
struct AuditState: Equatable {
    /// Rows that were made up to this time were committed when the audit looked (ms since 1970).
    let watermark: Int64
    /// The database it looked at; another one begins anew.
    let database: String

    /// How far the watermark stands behind the snapshot (ms). A row carries the time at which it was made and becomes
    /// visible with its commit; no transaction of a service lasts ten minutes (idle in transaction: 10 s, a statement:
    /// 5 s), and a clock that is set back by less loses nothing either.
    static let overlap: Int64 = 600_000

    /// Reads a file; nil if there is none, or it is no state of an audit: then everything is looked at.
    static func read(_ path: String) -> AuditState? {
        guard let data = FileManager.default.contents(atPath: path), data.count < 4_096,
            let object = try? JSONReader.parseObject(Array(data)), let watermark = object["watermark"]?.intValue,
            let database = object["database"]?.stringValue
        else { return nil }
        return AuditState(watermark: watermark, database: database)
    }

    /// Writes it, whole or not at all. False if it cannot be written.
    func write(to path: String) -> Bool {
        let object: JSONObject = ["watermark": .integer(watermark), "database": .string(database)]
        let url = URL(filePath: path)
        return (try? Data(JSONWriter.write(object)).write(to: url, options: .atomic)) != nil
    }
}

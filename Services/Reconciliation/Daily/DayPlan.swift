import Postgres

/// Days by apps' clocks. PostgreSQL knows the time zones, with their days of 23 and 25 hours.
struct DayPlan: Sendable, Equatable {
    /// The app.
    let app: String
    /// `2026-11-30`.
    let day: String
    /// The IANA name of its clock.
    let timeZone: String
    /// When it begins (ms since 1970).
    let from: Int64
    /// When the next one begins.
    let to: Int64

    /// The clock of apps that name none, and of names nobody knows.
    static let standardZone = "UTC"

    /// The clock by this name, or the standard one where PostgreSQL knows none: the zones' names take it 100 ms to list,
    /// so ask once.
    static func clock(_ name: String, on connection: inout Connection) throws -> String {
        guard name != standardZone else { return name }
        return try connection.query("SELECT name FROM pg_timezone_names WHERE name = $1", [.text(name)]).first?
            .text("name") ?? standardZone
    }

    /// A day of an app by a clock that PostgreSQL knows; nil if there is no such day.
    static func day(_ day: String, of app: String, zone: String, on connection: inout Connection) throws -> DayPlan? {
        guard isDay(day) else { return nil }
        return try read("$3::text::date", app, zone, .text(day), &connection)
    }

    /// The last day of an app, by a clock that PostgreSQL knows, that ended at least `delay` ms before `now`.
    static func last(
        of app: String, zone: String, now: Int64, delay: Int64, on connection: inout Connection
    ) throws -> DayPlan {
        let day = "(to_timestamp($3::bigint / 1000.0) AT TIME ZONE $2)::date - 1"
        guard let plan = try read(day, app, zone, .int8(now - delay), &connection) else {
            throw PostgresError.unreadableColumn(name: "day", problem: "is missing")
        }
        return plan
    }

    private static func read(
        _ day: String, _ app: String, _ zone: String, _ value: SQLValue, _ connection: inout Connection
    ) throws -> DayPlan? {
        try connection.query(
            """
            SELECT d.day::text AS day, (extract(epoch FROM d.day::timestamp AT TIME ZONE $2) * 1000)::bigint AS from_at,
                (extract(epoch FROM (d.day + 1)::timestamp AT TIME ZONE $2) * 1000)::bigint AS to_at, $1::text AS app
            FROM (SELECT \(day) AS day) AS d
            """, [.text(app), .text(zone), value]
        ).first.map {
            DayPlan(
                app: try $0.text("app"), day: try $0.text("day"), timeZone: zone,
                from: try $0.int8("from_at"), to: try $0.int8("to_at"))
        }
    }

    /// Whether PostgreSQL can be asked about it: a date that exists.
    static func isDay(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
            let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2]), (2008...2199).contains(year),
            (1...12).contains(month)
        else { return false }
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...lengths[month - 1]).contains(day)
    }
}

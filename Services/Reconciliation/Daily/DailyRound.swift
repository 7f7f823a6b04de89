import AMQP
import Observability
import Pipeline
import Postgres

/// Looks whether a run is due, or asked for, and makes it. Lives on the daily run's thread.
struct DailyRound {
    let work: DailyPart.Work
    /// When it is looked next whether a day has ended.
    private var nextLook: Int64 = 0
    /// What failed is tried again no earlier.
    private var resumeAt: Int64 = 0

    /// Names of clocks that PostgreSQL knows.
    private var clocks: Set<String> = []

    /// A round that has looked at nothing yet.
    init(work: DailyPart.Work) { self.work = work }

    /// A minute (ms): a day that has ended waits no longer.
    private static let pause: Int64 = 60_000
    /// After a failure (ms): what was asked may be back.
    private static let rest: Int64 = 5_000

    /// A look. Throws what the database throws; where others do not answer, the run goes on later.
    mutating func run(on connection: inout Connection) throws {
        let now = work.now()
        guard now >= resumeAt else { return }
        do {
            while let request = try RunTable.next(on: &connection) {
                let zones = work.zones()
                let apps = try request.app.map { [$0] } ?? Self.apps(zones, &connection)
                for app in apps {
                    guard
                        let plan = try DayPlan.day(
                            request.day, of: app, zone: try clock(of: app, zones, &connection), on: &connection)
                    else { continue }
                    try make(plan, &connection)
                }
                try RunTable.finish(request, now: work.now(), on: &connection)
            }
            guard now >= nextLook else { return }
            let zones = work.zones()
            for app in try Self.apps(zones, &connection) {
                let plan = try DayPlan.last(
                    of: app, zone: try clock(of: app, zones, &connection), now: now, delay: work.settings.delay,
                    on: &connection)
                if try !RunTable.isDone(plan, on: &connection) { try make(plan, &connection) }
            }
            try RunTable.keep(
                reports: work.settings.reportDays, lines: work.settings.lineDays, now: now, on: &connection)
            nextLook = now + Self.pause
        } catch let error as PostgresError {
            throw error
        } catch {
            work.instruments.failures.increment()
            resumeAt = now + Self.rest
            let code = (error as? RequestError)?.code ?? "\(type(of: error))"
            work.run.logger.warning("a daily run goes on later", ["error": .string(code)])
        }
    }

    /// The clock of an app. What PostgreSQL does not know is asked for again: its zones may be brought up to date.
    private mutating func clock(
        of app: String, _ zones: [String: String], _ connection: inout Connection
    ) throws -> String {
        guard let name = zones[app], !clocks.contains(name) else { return zones[app] ?? DayPlan.standardZone }
        let clock = try DayPlan.clock(name, on: &connection)
        if clock == name { clocks.insert(name) }
        return clock
    }

    private static func apps(_ zones: [String: String], _ connection: inout Connection) throws -> [String] {
        Set(try RunTable.apps(on: &connection)).union(zones.keys).sorted()
    }

    private func make(_ plan: DayPlan, _ connection: inout Connection) throws {
        let began = ContinuousClock.now
        let result = try work.run.run(plan, now: work.now(), on: &connection)
        work.instruments.runs.increment()
        work.instruments.purchases.increment(by: result.purchases)
        work.instruments.seconds.set(Double((ContinuousClock.now - began).components.seconds))
        work.instruments.last.set(Double(work.now()) / 1_000)
    }
}

import AMQP
import Messages
import Observability
import Postgres

/// The checks every service makes: can it reach what it needs, and is it set up as the source says?
enum Reachability {
    static func check<Program: ServiceProgram>(_ program: Program.Type, _ common: CommonSettings) -> [CheckResult] {
        var results: [CheckResult] = []
        if let broker = common.broker { results += checkBroker(broker, service: Program.name) }
        if let login = common.database, login.count > 0 { results += checkDatabase(program, login) }
        return results
    }

    /// Reachable, logged in, and every queue the service consumes is there.
    private static func checkBroker(_ broker: AMQPEndpoint, service: String) -> [CheckResult] {
        let subject = "broker \(broker.host):\(broker.port)"
        do {
            var inspector = try Inspector.open(broker, connectionName: "purser-\(service) check")
            var results = [CheckResult(subject)]
            for queue in Topology.queues where queue.name.hasPrefix(service + ".") {
                results.append(checkQueue(queue.name, &inspector))
                if queue.isWork { results.append(checkQueue(queue.parkedName, &inspector)) }
            }
            inspector.close()
            return results
        } catch {
            return [CheckResult(subject, problem: Problem.sentence(error))]
        }
    }

    private static func checkQueue(_ name: String, _ inspector: inout Inspector) -> CheckResult {
        do {
            guard try inspector.queue(name) != nil else {
                return CheckResult("queue \(name)", problem: "it does not exist; import the topology")
            }
            return CheckResult("queue \(name)")
        } catch {
            return CheckResult("queue \(name)", problem: Problem.sentence(error))
        }
    }

    /// Reachable, safe settings, and a schema as new as the program.
    private static func checkDatabase<Program: ServiceProgram>(_ program: Program.Type, _ login: Secret)
        -> [CheckResult]
    {
        do {
            var connection = try Connection.open(login, applicationName: "purser-\(Program.name) check")
            var results = [CheckResult("database")]
            results.append(check("database settings") { try connection.requireSafeSettings() })
            results.append(
                check("schema \(Program.name)") {
                    let migrator = Migrator(schema: Program.name, migrations: Program.migrations)
                    let pending = try migrator.pending(on: &connection)
                    guard pending.isEmpty else {
                        throw SchemaIsOld(service: Program.name, missing: pending.count)
                    }
                })
            return results
        } catch {
            return [CheckResult("database", problem: Problem.sentence(error))]
        }
    }

    private static func check(_ subject: String, _ body: () throws -> Void) -> CheckResult {
        do {
            try body()
            return CheckResult(subject)
        } catch {
            return CheckResult(subject, problem: Problem.sentence(error))
        }
    }
}

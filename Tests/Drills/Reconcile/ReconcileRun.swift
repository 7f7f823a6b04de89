import AMQP
import AppStoreSimulation
import Crypto
import JSON
import Observability
import TestSupport

/// A month of purchases through the real services; then every kind of difference is planted in 1 % of them, and
/// reconciliation must find each, nothing else, and mend what can be mended.
final class ReconcileRun {
    private let site: Site
    private let plan: MonthPlan
    private let clock: MonthClock
    private let superuser: Secret
    private let gateway: AMQPEndpoint
    private let findings = Findings()
    private let patience: Patience
    private let runs: DailyRuns
    private var planted = PlantedDifferences()

    init(_ settings: DrillSettings, count: Int, seed: UInt64) throws {
        site = try Site(settings)
        superuser = Secret(try settings.value("SUPERUSER"))
        gateway = try AMQPEndpoint(url: try settings.value("GATEWAY_BROKER_URL"))
        plan = MonthPlan(count: count, seed: seed)
        clock = MonthClock(now: WallClock.milliseconds())
        // Twenty repairs a second are handed in, of 2 % of the purchases; and what every step needs at least.
        patience = Patience(limit: 120 + Double(count) / 250)
        runs = DailyRuns(site: site, plan: plan, clock: clock, patience: patience)
    }

    /// Exit code: 0 everything held, 1 something did not.
    func run() throws -> Int32 {
        patience.say("a month of \(plan.count) purchases, seed \(plan.seed)")
        let answers = try Answers.start(gateway, name: "month-" + Hex.encode(try RandomBytes.generate(8)))
        defer { answers.finish() }
        let filling = try MonthFilling(
            site, plan, clock, gateway: gateway, answers: answers, patience: patience)
        let losses = try StoreLosses(site, filling)
        var books = try MonthBooks(site.auditor)
        var measured = ReconcileReport(plan: plan)
        let refunded = try fill(filling, losses, &books, &measured)
        let lost = try plant(filling, losses, refunded)
        try findWhatIsContinuous(&books)
        measured.seconds = try runs.today(&books)
        measured.monthSeconds = try runs.month(&books)
        patience.say(
            "        compared again: \(ReconcileReport.text(measured.seconds)) s in one day, "
                + "\(ReconcileReport.text(measured.monthSeconds)) s in \(plan.days) days")
        measured.peak = runs.peak(of: "reconciliation")
        try conclude(lost: lost, refunded: refunded, &books, &measured)
        books.close()
        return try end(measured)
    }

    // MARK: - The month

    /// Fills it, measures a third and all of it while nothing is wrong, and returns the purchases to be refunded.
    private func fill(
        _ filling: MonthFilling, _ losses: borrowing StoreLosses, _ books: inout MonthBooks,
        _ measured: inout ReconcileReport
    ) throws -> [String] {
        let orders = try filling.makeOrders()
        patience.say("filled: \(orders.count) orders")
        let refunded = try losses.buy(plan.share, account: "refunded", notification: DeliveryPlan())
        try patience.wait(for: "purchases that Apple tells") {
            let count = try books.grants()
            return count == refunded.count ? nil : "\(count) of \(refunded.count) are granted"
        }
        patience.say("        \(refunded.count) purchases that Apple alone has told")
        let third = plan.submitted / 3
        for part in [0..<third, third..<plan.submitted] {
            let began = ContinuousClock.now
            try filling.handIn(part, orders: orders)
            let rate = Double(part.count) / began.duration(to: .now).seconds
            patience.say("        \(part.count) purchases handed in, \(Int(rate))/s")
            let (verified, granted) = (part.upperBound, part.upperBound + refunded.count)
            try patience.wait(for: "reconciliation to read them") {
                try books.unread(verified: verified, granted: granted)
            }
            let seconds = try runs.today(&books)
            if part.lowerBound == 0 { measured.thirdSeconds = seconds } else { measured.cleanSeconds = seconds }
            patience.say("        compared in \(ReconcileReport.text(seconds)) s")
        }
        let cases = try books.cases().map { "\($0.kind) \($0.subject) \($0.state)" }
        findings.check("CLEAN", "nothing is found before anything is planted", cases)
        // What waits longest, a batch without a successor, is retired within a second.
        let audit = try site.attempt("purser", ["audit", "--full", "--json"])
        findings.check("CLEAN", "purser audit agrees", audit.status == 0 ? [] : [audit.output])
        return refunded
    }

    // MARK: - What is broken

    /// Plants all of it; returns the purchases that nobody has handed in.
    private func plant(
        _ filling: MonthFilling, _ losses: borrowing StoreLosses, _ refunded: [String]
    ) throws -> [String] {
        let lost = try losses.buy(plan.share, account: "lost", notification: .never)
        try losses.refund(refunded)
        for id in lost { planted.add(.lostSubmission, ("notification_missed", "Production/\(id)")) }
        for id in refunded { planted.add(.lostRefund, ("notification_missed", "Production/\(id)")) }
        let wallets = plan.wallets()
        var hand = try HandPlanting(superuser)
        let doubled = wallets.doubled.map { filling.transactionID($0) }
        for (id, account) in try hand.doubleLines(doubled) {
            // What the purchase gave, and what its account holds: both are wrong.
            planted.add(.doubledLine, ("amount_differs", "Production/\(id)"), ("balance_differs", account))
        }
        for account in try hand.overpay(wallets.overpaid.map { filling.transactionID($0) }) {
            planted.add(.wrongBalance, ("balance_differs", account))
        }
        let behind = plan.behind.map { filling.transactionID($0) }
        let forgotten = try hand.forgetDelivery(behind)
        guard forgotten == behind.count else {
            throw Site.Failure(description: "\(forgotten) of \(behind.count) orders could be changed by hand")
        }
        for id in behind { planted.add(.orderBehind, ("order_behind", "Production/\(id)")) }
        hand.close()
        try importSales()
        patience.say("planted: \(plan.share) of each kind, and what the sales reports have wrong")
        return lost
    }

    private func importSales() throws {
        let rows = plan.sales()
        let file = site.state + "/run/sales.txt"
        try SmallFile.write(Array(SalesFile.text(rows, clock, bundleID: site.bundleID).utf8), to: file)
        try site.run("purser", "sales", "import", "--app", "cloudpc", "--actor", "drill", file)
        for row in rows where row.told != nil {
            planted.add(.salesOffByOne, ("sales_differ", SalesFile.subject(row, clock)))
        }
    }

    // MARK: - What is found

    /// Waits for what is found without any daily run, and for the repairs.
    private func findWhatIsContinuous(_ books: inout MonthBooks) throws {
        let pass = try books.passes()
        let began = ContinuousClock.now
        // The pass under way has begun before the planting; the next one has seen all of it.
        try patience.wait(for: "two passes over all wallets") {
            let now = try books.passes()
            return now >= pass + 2 ? nil : "\(now - pass) have ended"
        }
        try patience.wait(for: "repairs, and what the sales reports have wrong") {
            let (results, _) = planted.compare(try books.cases())
            let left = results.filter { $0.kind.isRepairable && $0.repaired < $0.planted }
            let sales = results.first { $0.kind == .salesOffByOne && $0.found < $0.planted }
            let waiting = (left + [sales].compactMap { $0 }).map {
                "\($0.kind.rawValue): \($0.found) found and \($0.repaired) repaired of \($0.planted)"
            }
            return waiting.isEmpty ? nil : waiting.joined(separator: ", ")
        }
        let seconds = ReconcileReport.text(began.duration(to: .now).seconds)
        patience.say("found:  what the checks look at all the time, \(seconds) s, repairs included")
    }

    private func conclude(
        lost: [String], refunded: [String], _ books: inout MonthBooks, _ measured: inout ReconcileReport
    ) throws {
        let (results, wrong) = planted.compare(try books.cases())
        measured.results = results
        measured.falseFindings = wrong.count
        for result in results {
            let end = result.kind.isRepairable ? "repaired" : "an open case"
            findings.check(
                "FOUND", "every \(result.kind.rawValue) is found and \(end)",
                result.isRight ? [] : ["\(result)"])
        }
        findings.check("FALSE", "nothing else is found", wrong.map { "\($0.kind) \($0.subject) \($0.state)" })
        let granted = try books.delivered(lost, refunded: false)
        findings.check("MENDED", "every lost purchase is granted", none: Int64(lost.count - granted))
        let taken = try books.delivered(refunded, refunded: true)
        findings.check("MENDED", "every lost refund is taken back, once", none: Int64(refunded.count - taken))
        findings.check("BOUNDS", "time, memory and growth", measured.misses)
    }

    private func end(_ measured: ReconcileReport) throws -> Int32 {
        patience.say(measured.markdown)
        var json = measured.json
        json.set("held", .bool(findings.all.isEmpty))
        json.set("findings", findings.json)
        // Beside the state, as bench does.
        try SmallFile.write(JSONWriter.write(json), to: site.state + "/../reconcile.json")
        guard findings.all.isEmpty else {
            patience.say("\(findings.all.count) promises are broken; logs: \(site.state)/logs")
            return 1
        }
        patience.say("all \(findings.checked) promises hold.")
        return 0
    }
}

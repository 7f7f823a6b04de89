import Messages
import Observability
import Postgres
import TestSupport
import Testing

@testable import Granting

/// The gauge of what waits.
@Suite struct HeldWatchTests {
    @Test func `what is held is counted by its reason, and apart once it has waited for a day (C-106 C-109)`()
        async throws
    {
        try await GrantingDatabase.with("held_watch") { granting in
            var session = try granting.open()
            for (id, product) in [("91", "nobody.knows.1"), ("92", "nobody.knows.2"), ("93", "pyy_danbing_60")] {
                _ = try session.run(
                    GrantPurchases(), [try verified(transaction(id, ProductID(product)), by: "alice")])
            }
            let metrics = Metrics()
            let watch = HeldWatch(metrics)
            func counted(_ reason: String, _ age: String) -> String? {
                metrics.render().split(separator: "\n").first {
                    $0.hasPrefix("purser_granting_held_purchases{") && $0.contains(#"reason="\#(reason)""#)
                        && $0.contains(#"age="\#(age)""#)
                }?.split(separator: " ").last.map(String.init)
            }
            var connection = try granting.database.open(role: "purser_granting")
            try watch.look(on: &connection)
            #expect(counted("unknown_product", "young") == "2" && counted("unknown_product", "day") == "0")
            #expect(counted("sandbox_policy", "young") == "0")
            try granting.database.execute(
                "UPDATE granting.transactions SET created_at = created_at - interval '25 hours' WHERE transaction_id = '91'"
            )
            try watch.look(on: &connection)
            #expect(counted("unknown_product", "young") == "1" && counted("unknown_product", "day") == "1")
            try granting.database.execute(
                "UPDATE granting.transactions SET held_reason = NULL WHERE transaction_id = '91'")
            try watch.look(on: &connection)
            #expect(counted("unknown_product", "day") == "0")
        }
    }
}

/// Compares the product's books with the drill's own record of purchases and spends.
struct ShopCheck {
    let record: Record
    let findings: Findings

    /// INV1, INV2, INV4, INV5 and the balances, against the model.
    func check(_ books: inout BooksCheck) throws {
        let grants = try books.grants()
        let purchases = record.purchases
        checkGrants(grants)
        checkAnswers(purchases)
        let stored = try books.spends()
        let spends = record.spends
        checkSpends(spends, stored)
        checkBalances(try books.balances(), purchases, spends, try books.openDebts())
        findings.check("ANSWERS", "no answer was wrong", record.anomalies)
    }

    /// Every purchase is granted, to its buyer, once, and nothing else is.
    func checkGrants(_ grants: [BooksCheck.Grant]) {
        let purchases = record.purchases
        let granted = Set(grants.map(\.transactionID))
        findings.check(
            "INV2", "every purchase that was paid is granted", purchases.keys.filter { !granted.contains($0) }.sorted())
        findings.check(
            "INV1", "nothing is granted that was not paid, to nobody else, and nothing else",
            grants.filter { grant in
                let purchase = purchases[grant.transactionID]
                return purchase?.user != grant.user || purchase?.product.id != grant.productID
                    || purchase?.environment != grant.environment || grant.quantity != 1
            }.map(\.transactionID))
        findings.check(
            "INV1", "there are as many grants as purchases",
            grants.count == purchases.count ? [] : ["\(grants.count) grants, \(purchases.count) purchases"])
    }

    /// Every purchase was answered, and GRANTED once.
    func checkAnswers(_ purchases: [String: Record.Purchase]) {
        findings.check(
            "INV2", "every purchase was answered as delivered and finished at the store",
            purchases.filter { $0.value.answers.isEmpty || !$0.value.isFinished }.map(\.key))
        findings.check(
            "INV1", "no purchase was answered GRANTED twice",
            purchases.filter { $0.value.answers.count { $0 == "GRANTED" } > 1 }.map(\.key))
    }

    /// Every spend was answered alike, and as it is stored.
    func checkSpends(
        _ spends: [String: Record.Spend], _ stored: [String: (outcome: String, amount: Int64, balanceAfter: Int64)]
    ) {
        findings.check(
            "SPENDS", "every spend has as many answers as it was asked for",
            spends.filter { $0.value.answers.count != $0.value.copies }
                .map { "\($0.key): \($0.value.answers.count) of \($0.value.copies)" })
        findings.check(
            "SPENDS", "the same id got the same answer",
            spends.filter { spend in spend.value.answers.contains { $0 != spend.value.answers.first } }.map(\.key))
        findings.check(
            "SPENDS", "no more was spent than any wallet holds",
            spends.filter { $0.value.isTooLarge && $0.value.answers.contains { $0.code == "SPENT" } }.map(\.key))
        findings.check(
            "SPENDS", "what was answered is what is stored",
            spends.filter { id, spend in
                guard let answer = spend.answers.first else { return false }
                guard let row = stored[id] else { return true }
                return (answer.code == "SPENT") != (row.outcome == "spent") || answer.balanceAfter != row.balanceAfter
                    || spend.amount != row.amount
            }.map(\.key))
        findings.check(
            "INV5", "nothing is spent that nobody asked for", stored.keys.filter { spends[$0] == nil })
    }

    /// Σ granted − Σ refunded − Σ accepted spends + Σ owed, for every user and asset: what a refund found spent is owed.
    func checkBalances(
        _ balances: [String: [String: Int64]], _ purchases: [String: Record.Purchase],
        _ spends: [String: Record.Spend], _ debts: [BooksCheck.Debt]
    ) {
        var model: [String: [String: Int64]] = [:]
        let shares = record.shares
        for (id, purchase) in purchases {
            let kept = purchase.product.amount * (100 - (shares[id] ?? 0)) / 100
            model[purchase.user, default: [:]][purchase.product.asset, default: 0] += kept
        }
        for debt in debts { model[debt.user, default: [:]][debt.asset, default: 0] += debt.open }
        findings.check(
            "INV3", "no more is owed than was refunded",
            debts.filter { debt in
                let refunded = (purchases[debt.transactionID]?.product.amount ?? 0) * (shares[debt.transactionID] ?? 0)
                return debt.open > refunded / 100
            }.map(\.transactionID))
        for spend in spends.values where spend.answers.first?.code == "SPENT" {
            model[spend.user, default: [:]][spend.asset, default: 0] -= spend.amount
        }
        let expected = model.mapValues { $0.filter { $0.value != 0 } }.filter { !$0.value.isEmpty }
        var wrong: [String] = []
        for user in Set(expected.keys).union(balances.keys).sorted() where expected[user] != balances[user] {
            wrong.append("\(user): expected \(expected[user] ?? [:]), stored \(balances[user] ?? [:])")
        }
        findings.check("INV3", "every balance is what was bought without what was refunded and spent", wrong)
    }
}

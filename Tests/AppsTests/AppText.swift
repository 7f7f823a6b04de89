/// A small valid app file whose lines tests replace.
enum AppText {
    static func make(
        id: String = "one", hosts: String = "[one.example]", prefix: String? = nil, bundle: String = "com.example.one",
        audience: String = "one", serviceAudience: String = "one-services", replacing: [String: String] = [:]
    ) -> String {
        var text = """
            id: \(id)
            surface: orders
            hosts: \(hosts)
            bundleIds: [\(bundle)]
            appAppleId: 7
            environments: [Production, Sandbox]
            loginTokens: {issuer: i, audience: \(audience), keys: [{id: k, algorithm: HS256, secretFile: login.secret}]}
            serviceTokens: {issuer: i, audience: \(serviceAudience), keys: [{id: k, algorithm: ES256, publicKeyFile: service.pem}]}
            assets: [{id: COIN, jsonName: coin, insufficientCode: BALANCE_NOT_ENOUGH}]
            products:
              - {code: COIN_5, appleProductId: coin_5, type: consumable, grants: [{asset: COIN, amount: 5}]}
              - {code: VIP, appleProductId: vip, type: non-consumable, entitlement: {id: vip, durationDays: 30}, enabled: false}
            policies: {sandbox: nobody, reviewers: [10001], testers: [t], requireAppAccountToken: true, orderExpiryHours: 48}
            """
        if let prefix { text += "\npathPrefix: \(prefix)" }
        for (old, new) in replacing { text = replace(old, new, in: text) }
        return text + "\n"
    }

    private static func replace(_ old: String, _ new: String, in text: String) -> String {
        text.split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
    }
}

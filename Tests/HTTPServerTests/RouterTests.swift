import HTTPServer
import Testing

@Suite struct RouterTests {
    private let router: Router<String> = {
        var router = Router<String>()
        router.add("GET", "/", "root")
        router.add("GET", "/orders", "list")
        router.add("POST", "/orders", "create")
        router.add("GET", "/orders/{orderNo}", "one")
        router.add("GET", "/orders/latest", "latest")
        router.add("DELETE", "/orders/{number}", "remove")
        router.add("POST", "/orders/{orderNo}/items/{item}", "item")
        router.add("HEAD", "/probe", "head")
        router.add("GET", "/probe", "get")
        return router
    }()

    static let found: [(String, String, String, [String: String])] = [
        ("GET", "/", "root", [:]), ("GET", "/orders", "list", [:]), ("POST", "/orders", "create", [:]),
        ("GET", "/orders/IAP1", "one", ["orderNo": "IAP1"]), ("GET", "/orders/latest", "latest", [:]),
        ("DELETE", "/orders/7", "remove", ["number": "7"]), ("HEAD", "/orders", "list", [:]),
        ("POST", "/orders/1/items/蛋 饼", "item", ["orderNo": "1", "item": "蛋 饼"]), ("HEAD", "/probe", "head", [:]),
    ]

    @Test(arguments: found) func `a path finds its most literal endpoint`(
        _ method: String, _ path: String, _ endpoint: String, _ parameters: [String: String]
    ) {
        guard case .found(let found, let values) = router.resolve(method: method, path: path) else {
            Issue.record("not found")
            return
        }
        #expect(found == endpoint)
        #expect(values == parameters)
    }

    @Test(arguments: [
        "/order", "/orders/", "/orders//items/1", "/orders/1/items", "/Orders", "//orders", "/orders/1/items/2/3",
    ])
    func `another path is not found`(_ path: String) {
        guard case .notFound = router.resolve(method: "GET", path: path) else {
            Issue.record("found")
            return
        }
    }

    @Test(arguments: [
        ("PUT", "/orders", "GET, HEAD, POST"), ("PATCH", "/orders/7", "DELETE, GET, HEAD"),
        ("get", "/orders", "GET, HEAD, POST"), ("POST", "/orders/latest", "GET, HEAD"),
        ("HEAD", "/orders/1/items/2", "POST"),
    ])
    func `another method is answered with what is allowed`(_ method: String, _ path: String, _ allow: String) {
        guard case .methodNotAllowed(let allowed) = router.resolve(method: method, path: path) else {
            Issue.record("not refused")
            return
        }
        #expect(allowed == allow)
    }
}

@main
enum GatewayMain {
    static func main() {}
}
